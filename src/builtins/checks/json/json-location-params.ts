import { endOfContainer } from '../../../base/json/ends.ts';
import type { ParamSpec, Params } from '../check.ts';

export const jsonLocationParams: Readonly<Record<string, ParamSpec>> = {
  allow_wrapped: {
    schema: { type: 'boolean' },
    default: false,
    description: 'The JSON may be in a fenced code block.',
  },
  extract_json: {
    schema: { type: 'boolean' },
    default: false,
    description:
      'The JSON may be within other text: the first object or list of objects counts, else the first list.',
  },
};

export function findContentJson(content: string, params: Params): FoundJson {
  return findJson(content, {
    allowFenced: params['allow_wrapped'] === true,
    allowEmbedded: params['extract_json'] === true,
  });
}

type FoundJson = { readonly text: string; readonly value: unknown } | { readonly problem: string };

interface FindJsonOptions {
  readonly allowFenced: boolean;
  readonly allowEmbedded: boolean;
}

/** Linear in the length of the text. */
function findJson(content: string, { allowFenced, allowEmbedded }: FindJsonOptions): FoundJson {
  const whole = parse(content);
  if (!('problem' in whole)) return whole;
  const fenced = allowFenced ? firstParsed(listFenced(content)) : undefined;
  const embedded = allowEmbedded && fenced === undefined ? findEmbedded(content) : undefined;
  return fenced ?? embedded ?? whole;
}

function parse(text: string): FoundJson {
  try {
    return { text, value: JSON.parse(text) };
  } catch (thrown) {
    return { problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

function firstParsed(texts: readonly string[]): FoundJson | undefined {
  return texts.map(parse).find((found) => !('problem' in found));
}

/** Returns the text between ``` lines that are bare or say `json`. */
function listFenced(content: string): string[] {
  const blocks: string[] = [];
  for (let at = content.indexOf(FENCE); at !== -1; ) {
    const start = content.indexOf('\n', at);
    const end = start === -1 ? -1 : content.indexOf(`\n${FENCE}`, start);
    if (end === -1) break;
    const language = content.slice(at + FENCE.length, start).trim();
    if (/^(?:json)?$/i.test(language)) blocks.push(content.slice(start + 1, end));
    at = content.indexOf(FENCE, end + 1 + FENCE.length);
  }
  return blocks;
}

const FENCE = '```';

/** Returns the first object or list of objects, else the first list. A bare list is often just a footnote. */
function findEmbedded(content: string): FoundJson | undefined {
  const opener = /[{[]/g;
  let list: FoundJson | undefined;
  for (let steps = 0; steps < MAX_STEPS; ) {
    const start = opener.exec(content)?.index;
    if (start === undefined) break;
    const end = endOfContainer(content, start);
    steps += (end ?? content.length) - start;
    const text = content.slice(start, end ?? start);
    const found = parse(text);
    if ('problem' in found) continue;
    if (/^(?:\[\s*)?\{/.test(text)) return found;
    list ??= found;
    opener.lastIndex = start + text.length;
  }
  return list;
}

/** Each bracket may be followed to the end of the text, so this limits the search to a tenth of a second. */
const MAX_STEPS = 20_000_000;
