import type { NativeEvent } from '../../contract/hook.ts';
import { isObject, type Json } from '../../json/json.ts';

/**
 * What is wrong with a `replace` for this event, as the end of a sentence; undefined when it fits. A member
 * that the phase does not have is wrong too: a misspelt one must not let the original through.
 */
export function checkReplace(event: NativeEvent, replace: Json): string | undefined {
  const { value } = replace;
  if (!isObject(value)) return 'is not an object';
  const keys = Object.keys(value);
  const shape = shapes[event.phase];
  if (shape === undefined) return 'has no meaning here';
  const stray = keys.find((key) => !Object.hasOwn(shape, key));
  if (stray !== undefined) return `has a member "${stray}", which ${event.phase} does not have`;
  if (keys.length === 0) return `is empty; ${event.phase} has ${Object.keys(shape).join(', ')}`;
  for (const key of keys) {
    const problem = shape[key]?.(value[key]);
    if (problem !== undefined) return `has a \`${key}\` that ${problem}`;
  }
  return undefined;
}

type Check = (value: unknown) => string | undefined;

const text: Check = (value) => (typeof value === 'string' ? undefined : 'is not a string');
const object: Check = (value) => (isObject(value) ? undefined : 'is not an object');
const message: Check = (value) => checkMessage(value);

const shapes: Partial<Record<NativeEvent['phase'], Readonly<Record<string, Check>>>> = {
  before_call: {
    messages: (value) => {
      if (!Array.isArray(value)) return 'is not a list';
      return value.map(message).find((problem) => problem !== undefined);
    },
    system_prompt: text,
    other: object,
  },
  after_call: {
    message: (value) =>
      message(value) ??
      (isObject(value) && value['role'] === 'assistant' ? undefined : 'has another role than assistant'),
  },
  before_execution: { args: object },
  after_execution: { content: text },
};

const roles: readonly unknown[] = ['system', 'user', 'assistant', 'tool'];

function checkMessage(value: unknown): string | undefined {
  if (!isObject(value)) return 'holds a message that is not an object';
  if (!roles.includes(value['role'])) return 'holds a message without a known role';
  if (typeof value['content'] !== 'string') return 'holds a message whose content is not a string';
  const { tool_result: result } = value;
  return checkParts(value['parts']) ?? checkParts(isObject(result) ? result['parts'] : undefined);
}

/** Text that cannot be found in its parts could not be brought together with a changed `content`. */
function checkParts(parts: unknown): string | undefined {
  if (parts === undefined || parts === null) return undefined;
  const isFit = Array.isArray(parts) && parts.every((part) => isObject(part) && isText(part['text']));
  return isFit ? undefined : 'holds a message whose parts are not a list of objects with text';
}

function isText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}
