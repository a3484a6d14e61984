import type { Place } from '../place.ts';
import { isQuiet } from './quiet.ts';

/** The members of a response that repeat what the request asked for. */
const echoedKeys: ReadonlySet<string> = new Set([
  'instructions',
  'tools',
  'tool_choice',
  'metadata',
  'text',
  'reasoning',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'previous_response_id',
  'conversation',
  'prompt',
  'truncation',
]);

/**
 * Whether a member of a response repeats that of the request, with nothing but words of the API added: hooks have let
 * it pass already. APIs fill in their defaults, so the two need not be equal.
 */
export function isEchoed(key: string, place: Place, sent: Place | undefined): boolean {
  const asked = echoedKeys.has(key) ? sent?.at(key) : undefined;
  if (asked === undefined) return false;
  if (place.source.slice(place.start, place.end) === asked.source.slice(asked.start, asked.end)) return true;
  const known = new Set<string>();
  collectTexts(asked, known);
  return repeats(key, place, known);
}

function repeats(key: string, place: Place, known: ReadonlySet<string>): boolean {
  switch (place.kind) {
    case 'string':
      return known.has(place.text ?? '') || isQuiet(key, place) || defaults.has(place.text ?? '');
    case 'number':
      return known.has(numberText(place)) || isQuiet(key, place);
    case 'array':
      return place.items.every((item) => repeats(key, item, known));
    case 'object':
      return [...place.members].every(
        ([name, member]) => (known.has(name) || /^[a-z_]{1,48}$/.test(name)) && repeats(name, member, known),
      );
    default:
      return true;
  }
}

/** Texts, names and numbers of a value. */
function collectTexts(place: Place, texts: Set<string>): void {
  if (place.kind === 'string') texts.add(place.text ?? '');
  else if (place.kind === 'number') texts.add(numberText(place));
  for (const item of place.items) collectTexts(item, texts);
  for (const [name, member] of place.members) {
    texts.add(name);
    collectTexts(member, texts);
  }
}

function numberText({ json }: Place): string {
  return `#${json.text}`;
}

/** What APIs fill in where a request says nothing. */
const defaults: ReadonlySet<string> = new Set(['auto', 'text', 'medium', 'disabled', 'none', 'function']);
