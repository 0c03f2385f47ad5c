import type { EngineManifest } from '../../engines/engine.ts'
import { sourceTypeOf } from './source-type.ts'

/**
 * The XMP packet that marks a result as machine-made for programs that do not read C2PA: IPTC's Digital Source Type, and the engine as the
 * creator tool. Contains nothing about the person. UTF-8 text for the encoder to embed.
 * Source: IPTC Photo Metadata Standard 2023.2 (Iptc4xmpExt:DigitalSourceType) and ISO 16684-1 (packet wrapper).
 */
export function provenancePacket({ name, version, kind }: EngineManifest): string {
  return [
    '<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>',
    '<x:xmpmeta xmlns:x="adobe:ns:meta/">',
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
    '<rdf:Description rdf:about=""',
    ' xmlns:xmp="http://ns.adobe.com/xap/1.0/"',
    ' xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"',
    ` xmp:CreatorTool="${escapeAttribute(`Drape ${name} ${version}`)}"`,
    ` Iptc4xmpExt:DigitalSourceType="${sourceTypeOf(kind)}"/>`,
    '</rdf:RDF>',
    '</x:xmpmeta>',
    '<?xpacket end="w"?>',
  ].join('\n')
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
