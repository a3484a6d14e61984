import type { ChatMessage } from '../../../../contract/provider.ts';
import { canonicalJson } from '../../../../json/equal.ts';
import { isObject } from '../../../../json/json.ts';
import { plainReplaced, requireTold } from '../../replaced-messages.ts';

type PlainObject = Readonly<Record<string, unknown>>;

/**
 * Checks that a written body, read again, says what the hooks want. Signed thinking that they have changed is gone, and
 * paths in `other` may have moved up. Throws REPLY_MALFORMED.
 */
export function requireWritten(read: readonly ChatMessage[], wanted: readonly ChatMessage[]): void {
  requireTold(
    read,
    wanted.map((message, index) => adapt(plainReplaced(message), message, read[index])),
  );
}

/** What the body cannot say in other words is as it was read. */
function adapt(wanted: PlainObject, message: ChatMessage, read: ChatMessage | undefined): ChatMessage {
  if (read === undefined) return message;
  const told = plainReplaced(read);
  const { reasoning, tool_result: result } = told;
  const isLess = typeof wanted['reasoning'] === 'string' && isPartOf(reasoning ?? '', wanted['reasoning']);
  return {
    ...wanted,
    role: message.role,
    content: message.content,
    ...(isLess && { reasoning }),
    ...(isObject(wanted['tool_result']) && { tool_result: adaptResult(wanted['tool_result'], result) }),
    ...(holdsValues(wanted['other'], told['other']) && { other: told['other'] }),
  };
}

/** Of several thoughts some may be left. */
function isPartOf(reasoning: unknown, wanted: string): boolean {
  let at = 0;
  for (const letter of typeof reasoning === 'string' ? reasoning : ' ') {
    at = wanted.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** The name is that of the call, and an error's text is the content. */
function adaptResult(wanted: PlainObject, read: unknown): PlainObject {
  if (!isObject(read)) return wanted;
  const isError = wanted['error'] !== undefined && wanted['error'] !== null && read['error'] !== undefined;
  return { ...wanted, name: read['name'], ...(isError && { error: read['error'] }) };
}

function holdsValues(wanted: unknown, read: unknown): boolean {
  if (!isObject(wanted) || !isObject(read)) return false;
  const values = new Set(Object.values(wanted).map(canonicalJson));
  return Object.values(read).every((value) => values.has(canonicalJson(value)));
}
