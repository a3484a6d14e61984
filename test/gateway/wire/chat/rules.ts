import type { WireRules } from '../../../../src/gateway/wire/codec.ts';

/** The defaults: nothing passes that hooks cannot read. */
export const strict: WireRules = { opaque: new Set(), references: new Set(), redactsEmbeddings: false };

export const media: WireRules = { ...strict, opaque: new Set(['image', 'audio', 'file', 'video']) };
