import { compile, isRegistered, TreeInterpreter } from '@jmespath-community/jmespath';
import { isObject } from '../../../base/json/json.ts';
import { shorten } from '../../../base/text/phrases.ts';
import type { Jobs, SearchResult } from '../bounded/job.ts';

/** Evaluates a JMESPath expression over a JSON text, without a time limit. Throws RangeError only. */
export function searchJson({ expression, text }: Jobs['search']): SearchResult {
  try {
    const found = TreeInterpreter.search(compile(expression), parseWithoutPrototypes(text)) ?? null;
    return { found: JSON.stringify(found) };
  } catch (thrown) {
    if (thrown instanceof RangeError) throw thrown;
    const message = wordsOf(thrown);
    return invalidExpression.test(message) ? { invalid: message } : { mismatch: message };
  }
}

/** What is wrong with the expression, whatever it is evaluated over; undefined when nothing is. */
export function findExpressionProblem(expression: string): string | undefined {
  try {
    const unknown = functionsOf(compile(expression)).find((name) => !isRegistered(name));
    return unknown === undefined ? undefined : `calls ${unknown}(), which JMESPath does not have`;
  } catch (thrown) {
    return `\`${shorten(expression, 100)}\` is not a JMESPath expression: ${wordsOf(thrown)} (write one such as \`items[0].name\`)`;
  }
}

/** The parser's message. Its `token: x` would be taken for a credential and hidden. */
function wordsOf(thrown: unknown): string {
  if (/\(EOF\)/.test(messageOf(thrown))) return 'it ends where more is expected, such as a value or `]`';
  return messageOf(thrown).replaceAll(/\btoken: ?/g, 'sign ');
}

/** Parses JSON into objects without a prototype, since an expression may name `toString`. */
function parseWithoutPrototypes(text: string): JSONValue {
  return JSON.parse(text, (_key, value: unknown) =>
    isObject(value) ? Object.setPrototypeOf(value, null) : value,
  );
}

type JSONValue = Parameters<typeof TreeInterpreter.search>[1];

/** Matches evaluation errors that are faults of the expression, not of the text. */
const invalidExpression =
  /^(?:Syntax|syntax|Unknown function|Invalid arity|Error referencing|Invalid value: slice)/;

function functionsOf(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(functionsOf);
  if (!isObject(node)) return [];
  const own = node['type'] === 'Function' ? [String(node['name'])] : [];
  // The value of a literal is data, which may look like a node.
  return node['type'] === 'Literal' ? own : [...own, ...Object.values(node).flatMap(functionsOf)];
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
