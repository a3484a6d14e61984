import { isObject, type Json } from '../../json/json.ts';

/**
 * The result text of a flow-control tool, which starts no process. Source: docs/plugins.md.
 */
export function flowControlResult({ endsTurn }: { readonly endsTurn: boolean }, args: Json): string {
  const { message, prompt } = isObject(args.value) ? args.value : {};
  if (endsTurn) return typeof message === 'string' ? message : 'Returning to user';
  return typeof prompt === 'string' ? `Continuing with: ${prompt}` : 'Continuing processing';
}
