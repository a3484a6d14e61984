import { scanMembers } from '../../base/json/scan.ts';
import { invalidRequest } from '../wire/faults.ts';
import { openPlace, Place } from '../wire/place.ts';
import { decodeUtf8 } from '../wire/strict-json.ts';

/** What the gateway itself has to know of a request that no hook reads. */
export interface PeekedRequest {
  readonly text: string;
  /** Where the model's name stands. */
  readonly modelPlace: Place;
  readonly model: string;
  readonly isStream: boolean;
  readonly maxTokens: number | undefined;
  readonly choices: number;
}

/** The text of a request's body. Throws RefusedCall (400). */
export function decodeRequest(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw invalidRequest('The body is not UTF-8.');
  return text;
}

/**
 * Reads the members of a request that routes and limits need, and none of the rest. Throws RefusedCall (400) for what is
 * no JSON object, and for one that has such a member twice.
 */
export function peekRequest(text: string): PeekedRequest {
  const members = membersOf(text);
  const modelPlace = members.get('model');
  const model = modelPlace?.text;
  if (modelPlace === undefined || model === undefined || model === '')
    throw invalidRequest('The body has no "model".', 'model');
  const numberAt = (key: string) => {
    const place = members.get(key);
    const value = place?.kind === 'number' ? place.value : undefined;
    return typeof value === 'number' && value >= 0 ? value : undefined;
  };
  return {
    text,
    modelPlace,
    model,
    isStream: members.get('stream')?.value === true,
    maxTokens: largest(limitNames.map(numberAt)),
    choices: Math.max(1, numberAt('n') ?? 1),
  };
}

/** Of several limits, whichever the upstream heeds. */
function largest(limits: readonly (number | undefined)[]): number | undefined {
  const given = limits.filter((limit) => limit !== undefined);
  return given.length === 0 ? undefined : Math.max(...given);
}

const limitNames = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'] as const;

function membersOf(text: string): ReadonlyMap<string, Place> {
  const root = openOrRefuse(text);
  if (root.kind !== 'object') throw invalidRequest('The body is no JSON object.');
  const members = new Map<string, Place>();
  for (const { key, start, end } of scanMembers(text, root.start)) {
    if (members.has(key)) throw invalidRequest('The body has a key twice.', key.slice(0, 64));
    members.set(key, new Place(text, start, end));
  }
  return members;
}

function openOrRefuse(text: string): Place {
  try {
    return openPlace(text);
  } catch {
    throw invalidRequest('The body is no JSON.');
  }
}

/** The body with the upstream's name of the model; the same text when it has it. */
export function renameModel({ text, modelPlace, model }: PeekedRequest, name: string): string {
  if (name === model) return text;
  return text.slice(0, modelPlace.start) + JSON.stringify(name) + text.slice(modelPlace.end);
}
