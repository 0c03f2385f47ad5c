import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeImage } from '../../../../api/shared/image/image.ts'
import { type Models, openModels } from '../../../../worker/inference/models.ts'
import { findWearer } from '../../../../worker/vision/garment/wearer.ts'
import { findPerson } from '../../../../worker/vision/person/find-person.ts'
import { readSample } from '../../../support/drape.ts'
import { printedPhoto } from '../../../support/printed-photo.ts'

describe('the wearer in a product photo', () => {
  let models: Models
  beforeAll(async () => {
    models = await openModels('worker/models')
  })
  afterAll(() => models?.release())

  const person = async (name: string) => decodeImage(await readSample(`persons/${name}.jpg`))

  it.each(['akimbo-full', 'down-half-teal', 'astronaut', 'grace-hopper'])('is the person of %s', async (name) => {
    const photo = await person(name)
    for (const garmentType of [null, 'on_model', 'detail'])
      expect(await findWearer({ photo, garmentType }, models)).not.toBeNull()
  })

  it.each(['flat_lay', 'ghost_mannequin'])('is nobody if the caller says %s', async (garmentType) => {
    expect(await findWearer({ photo: await person('akimbo-full'), garmentType }, models)).toBeNull()
  })

  it.each([
    ['tshirt-navy', 'down-half-teal', 0.38],
    ['tshirt-mustard', 'grace-hopper', 0.38],
    ['tshirt-boxy-black', 'astronaut', 0.3],
    ['longsleeve-grey', 'akimbo-full', 0.3],
  ])('is nobody on a %s with a print of %s', async (garment, printed, width) => {
    const photo = await printedPhoto({ garment, person: printed, width })
    expect(await findPerson(photo, models, { small: false })).not.toBeNull()
    expect(await findWearer({ photo, garmentType: null }, models)).toBeNull()
  })
})
