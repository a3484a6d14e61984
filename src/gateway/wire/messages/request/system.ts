import type { Edits } from '../../edits.ts';
import { unwritable } from '../../faults.ts';
import type { Leftovers } from '../../leftovers.ts';
import type { Place } from '../../place.ts';
import { splitJoinedText } from '../../split-text.ts';
import { findBlockKind } from '../blocks/block-kinds.ts';
import { type ReadContext, requireString } from '../blocks/read-context.ts';
import { collectLeftovers } from '../blocks/shapes.ts';

/** The system prompt, and the strings that it stands in. */
export interface ReadSystem {
  readonly text: string;
  readonly texts: readonly Place[];
  /** The list of its blocks; undefined for a plain string. */
  readonly list: Place | undefined;
}

/** `system`: a string, or text blocks, which are joined by an empty line. */
export function readSystem(
  system: Place | undefined,
  leftovers: Leftovers,
  context: ReadContext,
): ReadSystem {
  if (system === undefined || system.kind === 'null') return { text: '', texts: [], list: undefined };
  if (system.kind === 'string') return { text: system.text ?? '', texts: [system], list: undefined };
  if (system.kind !== 'array') throw context.malformed('system');
  const texts = system.items.map((block, index) =>
    readSystemBlock(block, `system[${index}]`, leftovers, context),
  );
  return { text: texts.map(({ text }) => text ?? '').join(separator), texts, list: system };
}

const separator = '\n\n';

function readSystemBlock(block: Place, path: string, leftovers: Leftovers, context: ReadContext): Place {
  const type = block.at('type')?.text;
  const kind = findBlockKind(type);
  if (type === undefined) throw context.malformed(path);
  if (kind === undefined || kind.role !== 'text') throw context.unknown(type, path);
  collectLeftovers(block, { members: { ...kind.members, citations: { members: {} } } }, path, leftovers);
  return requireString({ block, fullPath: path }, 'text', context);
}

/**
 * Writes a changed system prompt. Where it cannot be divided among the blocks again, it is the text of the last one,
 * which may mark the end of what is cached. Throws REPLY_MALFORMED where there is none to write it to.
 */
export function writeSystem(changed: string, { text, texts, list }: ReadSystem, edits: Edits): void {
  if (changed === text) return;
  const last = texts.at(-1);
  if (last === undefined) throw unwritable('the request has no system prompt that could be replaced');
  if (list === undefined) {
    edits.replaceText(last, changed);
    return;
  }
  const old = texts.map((place) => place.text ?? '');
  const divided =
    splitJoinedText(old, separator, changed) ??
    old.map((_, index) => (index === old.length - 1 ? changed : ''));
  for (const [index, place] of texts.entries()) {
    const part = divided[index] ?? '';
    if (part === '' && place.text !== '') edits.remove(list, index);
    else edits.replaceText(place, part);
  }
}
