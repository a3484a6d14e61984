import { stringifyJson } from '../../base/json/json.ts';
import { memberOf, scanMembers } from '../../base/json/scan.ts';

/** A member of a document as JSON text, digit for digit; the document knows its bytes, a bare number does not. */
export function exactText(document: object, member: string): string {
  const text = stringifyJson(document);
  return memberOf(text, scanMembers(text), member)?.text ?? '';
}
