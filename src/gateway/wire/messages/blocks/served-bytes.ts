import type { Place } from '../../place.ts';
import type { ReadContext } from './read-context.ts';

/** Throws what the context makes of it when a result of a tool holds bytes that hooks cannot read and that are not listed. */
export function requireReadableBytes(value: Place, path: string, context: ReadContext): void {
  if (value.kind === 'object') {
    const kind = opaqueKindOf(value);
    if (kind !== undefined && !context.rules.opaque.has(kind)) throw context.unknown(kind, path);
    for (const [key, member] of value.members) requireReadableBytes(member, `${path}.${key}`, context);
  } else if (value.kind === 'array') {
    for (const [index, item] of value.items.entries())
      requireReadableBytes(item, `${path}[${index}]`, context);
  }
}

function opaqueKindOf(value: Place): 'image' | 'file' | undefined {
  const type = value.at('type')?.text;
  if (type !== 'base64' || value.at('data') === undefined) return undefined;
  return value.at('media_type')?.text?.startsWith('image/') ? 'image' : 'file';
}
