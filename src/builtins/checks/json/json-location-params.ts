import type { ParamSpec, Params } from '../check.ts';
import { type FoundJson, findJson } from './json-finder.ts';

/** The params that say where in the content the JSON may stand. */
export const jsonLocationParams: Readonly<Record<string, ParamSpec>> = {
  allow_wrapped: {
    schema: { type: 'boolean' },
    default: false,
    description: 'The JSON may stand in a fenced code block.',
  },
  extract_json: {
    schema: { type: 'boolean' },
    default: false,
    description:
      'The JSON may stand amid other text: the first object or list of objects counts, else the first list.',
  },
};

/** The JSON of the content, as those params allow it. */
export function findContentJson(content: string, params: Params): FoundJson {
  return findJson(content, {
    allowFenced: params['allow_wrapped'] === true,
    allowEmbedded: params['extract_json'] === true,
  });
}
