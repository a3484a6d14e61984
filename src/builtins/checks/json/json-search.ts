import { compile, isRegistered, TreeInterpreter } from '@jmespath-community/jmespath';
import { isObject } from '../../../base/json/json.ts';
import { shorten } from '../../../base/text/phrases.ts';
import type { Jobs, SearchResult } from '../bounded/job.ts';

/** Evaluates a JMESPath expression over a JSON text without a time limit. Throws RangeError only. */
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

/** Why the expression is invalid for any text; undefined if it is valid. */
export function findExpressionProblem(expression: string): string | undefined {
  try {
    const unknown = functionsOf(compile(expression)).find((name) => !isRegistered(name));
    return unknown === undefined ? undefined : `calls ${unknown}(), which JMESPath does not have`;
  } catch (thrown) {
    return `\`${shorten(expression, 100)}\` is not a JMESPath expression: ${wordsOf(thrown)} (write one such as \`items[0].name\`)`;
  }
}

/** Rewrites the parser's `token: x`, which redaction would take for a credential. */
function wordsOf(thrown: unknown): string {
  if (/\(EOF\)/.test(messageOf(thrown))) return 'it ends where more is expected, such as a value or `]`';
  return messageOf(thrown).replaceAll(/\btoken: ?/g, 'sign ');
}

/** An expression may name `toString`, so objects have no prototype. */
function parseWithoutPrototypes(text: string): JSONValue {
  return JSON.parse(text, (_key, value: unknown) =>
    isObject(value) ? Object.setPrototypeOf(value, null) : value,
  );
}

type JSONValue = Parameters<typeof TreeInterpreter.search>[1];

const invalidExpression =
  /^(?:Syntax|syntax|Unknown function|Invalid arity|Error referencing|Invalid value: slice)/;

function functionsOf(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(functionsOf);
  if (!isObject(node)) return [];
  const own = node['type'] === 'Function' ? [String(node['name'])] : [];
  // A literal's value is data that may look like a node.
  return node['type'] === 'Literal' ? own : [...own, ...Object.values(node).flatMap(functionsOf)];
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
