import { Json, stringifyJson } from '../../../../json/json.ts';
import { tryParseLossless } from '../../../../json/try-parse.ts';
import type { Place } from '../../place.ts';
import type { BodyPart } from './body-part.ts';
import type { BlockPosition, ToldContent } from './told-content.ts';

/** The members of a native message for what blocks tell (docs/guard.md, "What hooks read"). */
export function describeTold(told: ToldContent): {
  readonly content: string;
  readonly [member: string]: unknown;
} {
  const { thinking, calls, served, citations, leftovers } = told;
  const reasoning = thinking.map(thinkingText).join('');
  return {
    ...describeParts(told.body),
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(describeCall) }),
    ...(served.length > 0 && { tool_results: served.map((position) => describeServed(position, calls)) }),
    ...(citations.length > 0 && { citations: citations.map(({ place }) => place.json) }),
    ...(!leftovers.isEmpty && { other: leftovers.json }),
  };
}

/** `content`, and beside it `parts` when there are several, or files. */
export function describeParts(body: readonly BodyPart[]): {
  readonly content: string;
  readonly parts?: unknown;
} {
  const parts = body.map(({ described }) => described);
  const content = parts.map(({ text = '' }) => text).join('');
  return parts.length > 1 || parts.some(({ type }) => type !== 'text') ? { content, parts } : { content };
}

export function thinkingText({ block }: BlockPosition): string {
  return block.at('thinking')?.text ?? '';
}

export interface DescribedCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

export function describeCall({ block }: BlockPosition): DescribedCall {
  return {
    id: block.at('id')?.text ?? '',
    name: block.at('name')?.text ?? '',
    args: argsOf(block.at('input')),
  };
}

/** The arguments: exact JSON, or the text of what is no object, as a call that was cut off. */
function argsOf(input: Place | undefined): unknown {
  if (input === undefined) return new Json('{}');
  return input.text ?? input.json;
}

/** A result of a tool that the upstream has run; `content` is its text, or the JSON of it without escapes. */
export function describeServed({ block }: BlockPosition, calls: readonly BlockPosition[]) {
  const id = block.at('tool_use_id')?.text ?? '';
  const call = calls.find(({ block: candidate }) => candidate.at('id')?.text === id);
  const name = call?.block.at('name')?.text ?? '';
  const isError = block.at('is_error')?.kind === 'boolean' && block.at('is_error')?.value === true;
  return { id, name, content: servedText(block.at('content')), ...(isError && { is_error: true }) };
}

/** The text of a result; JSON is written anew, so that no escape hides a word. */
export function servedText(content: Place | undefined): string {
  if (content === undefined) return '';
  return content.text ?? stringifyJson(tryParseLossless(content.json.text));
}
