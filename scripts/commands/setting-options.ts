import { DrapeError } from '../../api/shared/contract/errors.ts'
import { parseSetting, type Setting, type Settings, schemaOf, splitWords } from '../../api/shared/contract/setting.ts'
import { type Options, option, required, UsageError } from './options.ts'

const NONE = 'none'

/** An option for each setting, for example `--writes-per-minute <n>`. */
export function settingOptions(settings: Settings) {
  return Object.entries(settings).map(([name, setting]) => {
    const { label, hint, absent } = setting
    const words = [
      toLower(label),
      hint && toLower(hint.replace(/\.$/, '')),
      absent === undefined ? undefined : `none: ${absent}`,
    ]
    return option(
      `--${optionOf(name, setting)} <${placeholderOf(setting)}>`,
      words.filter((part) => part !== undefined).join('; '),
    )
  })
}

/** The given settings; null for `none`, which removes a setting. Throws a UsageError. */
export function readSettings(settings: Settings, options: Options): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, setting]) => {
      const optionName = optionOf(name, setting)
      const text = options[optionName]
      if (text === undefined) return []
      return [[name, text === NONE && setting.absent !== undefined ? null : read(text, optionName, setting)]]
    }),
  )
}

function read(text: string, name: string, setting: Setting): unknown {
  try {
    return parseSetting(required(text, name), name, setting)
  } catch (error) {
    throw error instanceof DrapeError ? new UsageError(`--${error.message.replace(/\.$/, '')}`) : error
  }
}

function optionOf(name: string, setting: Setting): string {
  return setting.option ?? splitWords(name, '-')
}

function placeholderOf(setting: Setting): string {
  const { type, enum: values, minimum, maximum } = schemaOf(setting)
  if (values) return values.join('|')
  if (type === 'boolean') return 'true|false'
  if (type === 'integer') return maximum !== undefined && maximum <= 3600 ? `${minimum}..${maximum}` : 'n'
  return setting.placeholder ?? 'text'
}

/** With a small first letter, except for `URL`. */
function toLower(label: string): string {
  return /^[A-Z][a-z-]/.test(label) ? `${label[0]?.toLowerCase()}${label.slice(1)}` : label
}
