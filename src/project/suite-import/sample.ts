import { isObject, stringifyJson } from '../../json/json.ts';
import type { SourceLocation } from '../../yaml/problem.ts';
import type { Notes } from './notes.ts';

type Mapping = Readonly<Record<string, unknown>>;

interface SampleMessage {
  readonly role: string;
  readonly content: string;
}

/** A question, and what is known of its answers, as the data sets of other systems have them. */
export interface Sample {
  readonly id: string | undefined;
  readonly messages: readonly SampleMessage[];
  /** The answer to judge; undefined where it is to be made. */
  readonly answer: string | undefined;
  /** Right answers, of which one is enough; of a choice its letter. */
  readonly expected: readonly string[];
  readonly choices: readonly string[];
  /** What was found to answer with. */
  readonly contexts: readonly string[];
  readonly toolCalls: readonly Mapping[];
  readonly expectedTools: readonly string[];
  readonly tags: readonly string[];
}

/** A row of a data set, where it stands, and where to say what is left of it. */
export interface SampleRow {
  readonly value: Mapping;
  readonly at: SourceLocation;
  readonly notes: Notes;
}

/** Reads a row; undefined, with a note, where it is no sample. */
export type ReadSample = (row: SampleRow) => Sample | undefined;

/** A text or texts; empty where there is none. */
export function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  return Array.isArray(value) ? value.flatMap(textsOf) : [];
}

/** The messages of a text, or of a list with roles; undefined where it is neither. */
export function messagesOf(value: unknown): readonly SampleMessage[] | undefined {
  if (typeof value === 'string') return [{ role: 'user', content: value }];
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const messages = value.flatMap((each: unknown) => {
    if (!isObject(each) || typeof each['content'] !== 'string') return [];
    const role = each['role'] ?? each['type'];
    const known = role === 'human' ? 'user' : role === 'ai' ? 'assistant' : role;
    return known === 'user' || known === 'assistant' || known === 'system'
      ? [{ role: known, content: each['content'] }]
      : [];
  });
  return messages.length === value.length ? messages : undefined;
}

/** The calls of tools that a test case lists, as evals see them. */
export function toolCallsOf(value: unknown): readonly Mapping[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.flatMap((each, index) => {
    if (!isObject(each) || typeof each['name'] !== 'string') return [];
    const { name, args, input_parameters: input = each['inputParameters'] ?? args, output } = each;
    const result = output === undefined ? '' : typeof output === 'string' ? output : stringifyJson(output);
    return [{ name, args: isObject(input) ? input : {}, result, error: '', index }];
  });
}

/** Says of each of these members that it is not carried. */
export function noteMembers({ value, at, notes }: SampleRow, names: readonly string[]): void {
  for (const name of names) {
    const member = value[name];
    if (member !== undefined && member !== null)
      notes.add('error', at, `\`${name}\` of a sample is not carried`);
  }
}
