import { stringifyJson } from '../../base/json/json.ts';
import { memberOf, scanMembers } from '../../base/json/scan.ts';

/** Returns members as JSON text with every digit; only the document knows its original bytes. */
export function exactTexts(document: object): (member: string) => string {
  const text = stringifyJson(document);
  const members = scanMembers(text);
  return (member) => memberOf(text, members, member)?.text ?? '';
}

export function exactText(document: object, member: string): string {
  return exactTexts(document)(member);
}
