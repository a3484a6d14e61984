import { stringifyJson } from '../../json/json.ts';
import { tryParse } from '../../json/try-parse.ts';
import type { Source } from '../../yaml/source.ts';

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

/** Reads a row; undefined, with a note, where it is no sample. What it does not take is reported. */
export type ReadSample = (row: Source) => Sample | undefined;

/** A text or texts; empty, and nothing taken, where there is none. */
export function textsOf(source: Source): readonly string[] {
  const only = source.scalar();
  if (only !== undefined) return [only];
  return source.items().flatMap((each) => each.scalar() ?? []);
}

/** The same of a cell, in which a bar or a JSON list stands between texts. */
export function textsOfCell(source: Source): readonly string[] {
  if (source.kind !== 'text') return textsOf(source);
  const cell = source.text() ?? '';
  const list = listIn(cell);
  const texts = list?.filter((each) => typeof each === 'string');
  if (texts !== undefined && texts.length === list?.length) return texts;
  return cell.split('|').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));
}

function listIn(cell: string): readonly unknown[] | undefined {
  const value = /^\s*\[/.test(cell) ? tryParse(cell) : undefined;
  return Array.isArray(value) ? value : undefined;
}

/** The messages of a text, or of a list with roles; undefined, and nothing taken, where it is neither. */
export function messagesOf(source: Source): readonly SampleMessage[] | undefined {
  if (source.kind === 'text') return [{ role: 'user', content: source.text() ?? '' }];
  const items = source.items();
  const isTalk = items.every((each) => roleOf(each) !== undefined && each.at('content').kind === 'text');
  if (items.length === 0 || !isTalk) return undefined;
  return items.map((each) => {
    const role = roleOf(each) ?? 'user';
    each.at('type').text();
    return { role, content: each.at('content').text() ?? '' };
  });
}

function roleOf(message: Source): string | undefined {
  const role = message.at('role').text() ?? message.at('type').text();
  if (role === 'human') return 'user';
  if (role === 'ai') return 'assistant';
  return role === 'user' || role === 'assistant' || role === 'system' ? role : undefined;
}

/** The calls of tools that a test case lists, as evals see them; in a cell as JSON, or as names. */
export function toolCallsOf(source: Source): readonly Mapping[] {
  if (source.kind === 'text') {
    const cell = source.text() ?? '';
    const names = listIn(cell)?.map((each) => nameOf(each)) ?? cell.split(/[;|,]/).map((name) => name.trim());
    return names.flatMap((name, index) => (name ? [{ name, args: {}, result: '', error: '', index }] : []));
  }
  return source.items().flatMap((each, index) => {
    const name = each.text() ?? each.at('name').text();
    if (name === undefined) return [];
    const args = ['input_parameters', 'inputParameters', 'args']
      .map((key) => each.at(key).mapping())
      .find((found) => found !== undefined);
    const output = each.at('output').whole();
    const result = output === undefined ? '' : typeof output === 'string' ? output : stringifyJson(output);
    return [{ name, args: args ?? {}, result, error: '', index }];
  });
}

function nameOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const name: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'name') : undefined;
  return typeof name === 'string' ? name : undefined;
}
