import { isObject } from '../../base/json/json.ts';
import { tryParse } from '../../base/json/try-parse.ts';
import { isTransientStatus } from '../../models/provider-error.ts';
import type { SseEvent } from '../wire/sse.ts';

/** What an event at the beginning of a stream tells: nothing yet, that the upstream is at fault, or something of an answer. */
export type Telling = 'nothing' | 'fault' | 'answer';

/** Reads an event of whichever endpoint. What is not known to tell nothing counts as an answer. */
export function tellingOf({ data }: SseEvent): Telling {
  const value = tryParse(data);
  if (!isObject(value)) return 'answer';
  const error = errorIn(value);
  if (error !== undefined) return isFault(error) ? 'fault' : 'answer';
  return isBeginning(value) ? 'nothing' : 'answer';
}

type Members = Readonly<Record<string, unknown>>;

/** The error that an event tells: in chat and Messages `error`, in Responses the event itself or that of the response. */
function errorIn(event: Members): Members | undefined {
  const { error, type, response } = event;
  if (isObject(error)) return error;
  if (type === 'error') return event;
  if (type !== 'response.failed' || !isObject(response)) return undefined;
  return isObject(response['error']) ? response['error'] : {};
}

/** Whether an error is none that the request causes: by its name, or the status that some servers give as its code. */
function isFault({ type, code, status }: Members): boolean {
  return [type, code, status].some((word) => {
    if (typeof word === 'string' && faults.has(word)) return true;
    const number = Number(word);
    return (
      typeof word !== 'boolean' && Number.isInteger(number) && number >= 400 && isTransientStatus(number)
    );
  });
}

/** The names that go with the statuses of `isTransientStatus`. */
const faults: ReadonlySet<string> = new Set([
  // https://docs.anthropic.com/en/api/errors
  ...['overloaded_error', 'api_error', 'rate_limit_error', 'timeout_error'],
  // https://platform.openai.com/docs/guides/error-codes
  ...['server_error', 'rate_limit_exceeded', 'insufficient_quota', 'internal_server_error'],
]);

function isBeginning({ type, choices }: Members): boolean {
  if (typeof type === 'string') return beginnings.has(type);
  return Array.isArray(choices) && choices.every((choice) => isObject(choice) && isEmptyChoice(choice));
}

const beginnings: ReadonlySet<string> = new Set([
  ...['ping', 'message_start'],
  ...['response.created', 'response.queued', 'response.in_progress'],
]);

/** A choice of a chat that says who speaks, and nothing else yet. */
function isEmptyChoice({ delta, finish_reason: reason }: Members): boolean {
  if ((reason ?? null) !== null || !isObject(delta)) return false;
  return Object.entries(delta).every(([name, value]) => name === 'role' || value === null || value === '');
}
