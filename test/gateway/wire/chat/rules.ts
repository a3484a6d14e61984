import type { WireRules } from '../../../../src/gateway/wire/codec.ts';

/** What a config lets pass by default: nothing that hooks cannot read. */
export const strict: WireRules = { opaque: new Set(), references: new Set(), redactsEmbeddings: false };

/** A config that lets pictures, sounds and files pass. */
export const media: WireRules = { ...strict, opaque: new Set(['image', 'audio', 'file', 'video']) };
