import { beforeAll, describe, expect, it } from 'vitest'
import { decodeImage } from '../../../../../api/shared/image/image.ts'
import type { Models } from '../../../../../worker/inference/models.ts'
import { findWearer } from '../../../../../worker/vision/garment/worn/wearer.ts'
import { findPerson } from '../../../../../worker/vision/person/find-person.ts'
import { readSample } from '../../../../support/drape.ts'
import { printedPhoto } from '../../../../support/printed-photo.ts'
import { sharedModels } from '../../../../support/vision.ts'

describe('the wearer in a product photo', () => {
  let models: Models
  beforeAll(async () => {
    models = await sharedModels()
  })

  const person = async (name: string) => decodeImage(await readSample(`persons/${name}.jpg`))

  it.each([
    ['akimbo-full', null],
    ['down-half-teal', 'on_model'],
    ['astronaut', 'detail'],
    ['grace-hopper', null],
  ])('is the person of %s if the caller says %s', async (name, garmentType) => {
    expect(await findWearer({ photo: await person(name), garmentType }, models)).not.toBeNull()
  })

  it.each(['flat_lay', 'ghost_mannequin'])('is nobody if the caller says %s', async (garmentType) => {
    expect(await findWearer({ photo: await person('akimbo-full'), garmentType }, models)).toBeNull()
  })

  it.each([
    ['tshirt-navy', 'down-half-teal', 0.38],
    ['tshirt-boxy-black', 'astronaut', 0.3],
  ])('is nobody on a %s with a print of %s', async (garment, printed, width) => {
    const photo = await printedPhoto({ garment, person: printed, width })
    expect(await findPerson(photo, models, { small: false })).not.toBeNull()
    expect(await findWearer({ photo, garmentType: null }, models)).toBeNull()
  })
})
