import { isObject, type Json } from '../../json/json.ts';

/**
 * Whether the arguments are those of a command line, `{"args": ["a", "b c"]}`, which only a host may send, and which
 * no `parameters` describe. A tool that has an argument of that name is given it like any other. Source: docs/plugins.md.
 */
export function isCommandLineForm({ value }: Json, parameters: unknown): boolean {
  if (!isObject(value) || Object.keys(value).join() !== 'args' || !isStringList(value['args'])) return false;
  const { properties } = isObject(parameters) ? parameters : {};
  return !isObject(properties) || !Object.hasOwn(properties, 'args');
}

function isStringList(list: unknown): boolean {
  return Array.isArray(list) && list.every((text) => typeof text === 'string');
}
