import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import libheif from 'libheif-js/libheif-wasm/libheif.js'

/**
 * C functions of libheif, compiled to WebAssembly: pointers and enums are numbers; a returned `heif_error` is written
 * to the first argument.
 */
export interface Libheif {
  /** Replaced when the memory grows. */
  readonly HEAPU8: Uint8Array<ArrayBuffer>
  _malloc(bytes: number): number
  _free(pointer: number): void
  _heif_context_alloc(): number
  _heif_context_free(context: number): void
  _heif_context_set_maximum_image_size_limit(context: number, side: number): void
  _heif_context_read_from_memory_without_copy(
    error: number,
    context: number,
    bytes: number,
    size: number,
    options: number,
  ): void
  _heif_context_get_primary_image_handle(error: number, context: number, handle: number): void
  _heif_image_handle_release(handle: number): void
  _heif_image_handle_get_width(handle: number): number
  _heif_image_handle_get_height(handle: number): number
  _heif_image_handle_get_item_id(handle: number): number
  _heif_image_handle_has_alpha_channel(handle: number): number
  _heif_image_handle_get_luma_bits_per_pixel(handle: number): number
  _heif_image_handle_get_preferred_decoding_colorspace(
    error: number,
    handle: number,
    colourSpace: number,
    chroma: number,
  ): void
  _heif_image_handle_get_raw_color_profile_size(handle: number): number
  _heif_image_handle_get_raw_color_profile(error: number, handle: number, profile: number): void
  _heif_image_handle_get_nclx_color_profile(error: number, handle: number, profile: number): void
  _heif_nclx_color_profile_free(profile: number): void
  _heif_decoding_options_alloc(): number
  _heif_decoding_options_free(options: number): void
  _heif_decode_image(
    error: number,
    handle: number,
    image: number,
    colourSpace: number,
    chroma: number,
    options: number,
  ): void
  _heif_image_release(image: number): void
  _heif_item_get_transformation_properties(context: number, item: number, properties: number, count: number): number
  _heif_item_get_property_type(context: number, item: number, property: number): number
  _heif_item_get_property_transform_mirror(context: number, item: number, property: number): number
  _heif_item_get_property_transform_rotation_ccw(context: number, item: number, property: number): number
  _heif_item_get_property_transform_crop_borders(
    context: number,
    item: number,
    property: number,
    width: number,
    height: number,
    left: number,
    top: number,
    right: number,
    bottom: number,
  ): void
  _heif_image_handle_get_image_tiling(error: number, handle: number, transformed: number, tiling: number): void
  _heif_image_handle_decode_image_tile(
    error: number,
    handle: number,
    image: number,
    colourSpace: number,
    chroma: number,
    options: number,
    column: number,
    row: number,
  ): void
  _heif_image_get_width(image: number, channel: number): number
  _heif_image_get_height(image: number, channel: number): number
  _heif_image_get_bits_per_pixel_range(image: number, channel: number): number
  _heif_image_get_plane_readonly2(image: number, channel: number, stride: number): number
  _heif_image_is_premultiplied_alpha(image: number): number
}

interface Memory {
  readonly buffer: ArrayBuffer
  grow: (pages: number) => number
}

/** The WebAssembly API in use; Node's types omit it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> }
  readonly Memory: new (size: { initial: number }) => Memory
}
type Instance = InstanceType<typeof WebAssembly.Instance>

const PAGE_BYTES = 65_536

/** Opens libheif with at most `maxBytes()` of memory. The instance is unusable after a thrown (not returned) error. */
export function openLibheif(maxBytes: () => number): Libheif {
  const path = createRequire(import.meta.url).resolve('libheif-js/libheif-wasm/libheif.wasm')
  const module = new WebAssembly.Module(readFileSync(path))
  // The package's types wrongly describe an ES module.
  const open = libheif as unknown as (options: object) => Libheif
  return open({
    print: () => {},
    printErr: () => {},
    instantiateWasm: (imports: object, receive: (instance: Instance) => unknown) => {
      const instance = new WebAssembly.Instance(module, imports)
      for (const part of Object.values(instance.exports)) {
        if (part instanceof WebAssembly.Memory) capMemory(part, maxBytes)
      }
      return receive(instance)
    },
  })
}

/** Makes growth beyond the cap fail, which the library treats as out of memory. */
function capMemory(memory: Memory, maxBytes: () => number): void {
  const grow = memory.grow.bind(memory)
  memory.grow = (pages) => {
    if (memory.buffer.byteLength + pages * PAGE_BYTES > maxBytes()) throw new RangeError('memory cap')
    return grow(pages)
  }
}
