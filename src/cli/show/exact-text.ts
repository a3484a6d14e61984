import { stringifyJson } from '../../base/json/json.ts';
import { memberOf, scanMembers } from '../../base/json/scan.ts';

/** Returns a member as JSON text with every digit; only the document knows its original bytes. */
export function exactText(document: object, member: string): string {
  const text = stringifyJson(document);
  return memberOf(text, scanMembers(text), member)?.text ?? '';
}
