import { compile, isRegistered, TreeInterpreter } from '@jmespath-community/jmespath';
import { isObject } from '../../json/json.ts';
import type { Jobs, SearchAnswer } from '../bounded/job.ts';

/** Evaluates a JMESPath expression over a text that is JSON. It may take for ever. */
export function searchJson({ expression, text }: Jobs['search']): SearchAnswer {
  try {
    const found = TreeInterpreter.search(compile(expression), parseBare(text)) ?? null;
    return { found: JSON.stringify(found) };
  } catch (thrown) {
    if (thrown instanceof RangeError) throw thrown;
    const message = messageOf(thrown);
    return ownFaults.test(message) ? { wrong: message } : { misfit: message };
  }
}

/** What is wrong with the expression, whatever it is evaluated over; undefined when nothing is. */
export function findExpressionProblem(expression: string): string | undefined {
  try {
    const unknown = functionsOf(compile(expression)).find((name) => !isRegistered(name));
    return unknown === undefined ? undefined : `calls ${unknown}(), which JMESPath does not have`;
  } catch (thrown) {
    return `is not a JMESPath expression: ${messageOf(thrown)}`;
  }
}

/** Objects that have nothing but what the text says, since an expression may ask for `toString`. */
function parseBare(text: string): JSONValue {
  return JSON.parse(text, (_key, value: unknown) =>
    isObject(value) ? Object.setPrototypeOf(value, null) : value,
  );
}

type JSONValue = Parameters<typeof TreeInterpreter.search>[1];

/** Faults that show only when the expression is evaluated, and are its own nevertheless. */
const ownFaults = /^(?:Syntax|syntax|Unknown function|Invalid arity|Error referencing|Invalid value: slice)/;

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
