import { hash } from 'node:crypto';
import { stringifyJson } from '../../base/json/json.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import type { MemoKey } from './memo-key.ts';

/** Whose conversation it is, and who judges it. */
export interface ChainOwner {
  /** Of the caller's key; '' where the gateway asks for none. */
  readonly keyId: string;
  /** Of a hook, or of another judge. */
  readonly judge: string;
}

/**
 * The names of the prefixes of a conversation: the first is that of the system prompt, each further one that of one
 * message more. A name is that of exactly these messages in this order, with all their members, for that owner.
 */
export function namesOfPrefixes(
  key: MemoKey,
  { keyId, judge }: ChainOwner,
  { system_prompt, messages }: { readonly system_prompt: string; readonly messages: readonly ChatMessage[] },
): readonly string[] {
  const names = [key.nameOf('conversation', keyId, judge, system_prompt)];
  for (const message of messages)
    names.push(key.nameOf('message', names[names.length - 1] ?? '', digestOf(message)));
  return names;
}

const digests = new WeakMap<ChatMessage, Uint8Array>();

/** Several hooks look at one message. */
function digestOf(message: ChatMessage): Uint8Array {
  let digest = digests.get(message);
  if (digest === undefined) {
    // Marks that hooks make on their way are nothing that anybody says.
    const { meta: _, ...said } = message;
    digest = hash('sha256', Buffer.from(stringifyJson(said), 'utf16le'), 'buffer');
    digests.set(message, digest);
  }
  return digest;
}
