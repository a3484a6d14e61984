import type { ChatMessage } from '../../../../contract/provider.ts';
import type { Edits } from '../../edits.ts';
import { unwritable } from '../../faults.ts';
import { plainReplaced } from '../../replaced-messages.ts';
import type { ToldContent } from './told-content.ts';
import { writeBody } from './written-body.ts';
import { writeCalls, writeCitations, writeReasoning, writeServed } from './written-entries.ts';

/** A message as it was told, and where its form allows more or less than others'. */
export interface SentMessage {
  readonly message: ChatMessage;
  readonly told: ToldContent;
  readonly isAnswer: boolean;
  /** Members of the message that its caller writes. */
  readonly own: ReadonlySet<string>;
}

/**
 * Writes a replaced message at the places of the sent one: what it does not repeat goes. Returns it as plain values.
 * Throws REPLY_MALFORMED for what cannot be written.
 */
export function writeMessage(
  changed: ChatMessage,
  { message, told, isAnswer, own }: SentMessage,
  edits: Edits,
): Readonly<Record<string, unknown>> {
  const plain = plainReplaced(changed);
  if (plain['role'] !== message.role) throw unwritable('a replaced message has another role');
  requireKnownMembers(plain, own);
  const before = told.list && firstBehindThinking(told);
  const block = (text: string) =>
    isAnswer
      ? JSON.stringify({ type: 'text', text, citations: null })
      : JSON.stringify({ type: 'text', text });
  writeBody(plain, told.body, edits, { list: told.list, block, before });
  writeReasoning(plain['reasoning'], told, edits);
  writeCalls(plain['tool_calls'], told, edits);
  writeServed(plain['tool_results'], told, edits);
  writeCitations(plain['citations'], told, edits, isAnswer ? 'null' : 'absent');
  told.leftovers.write(plain['other'], edits);
  for (const { block, path } of told.compactions) {
    const isSame = told.leftovers.isUnchanged(`${path}.content`, plain['other']);
    if (block.at('content')?.kind !== 'string' || isSame) continue;
    for (const key of ['encrypted_content', 'signature'])
      if ((block.at(key)?.text ?? '') !== '') edits.remove(block, key);
  }
  told.leftovers.dropCopies(edits, isAnswer);
  return plain;
}

/** The index of the first block that is no thinking: a new text stands before it. */
function firstBehindThinking({ thinking, redacted, list, start }: ToldContent): number | undefined {
  const leading = new Set([...thinking, ...redacted].map(({ entry }) => entry));
  let at = start;
  while (leading.has(at)) at += 1;
  return at < (list?.items.length ?? 0) ? at : undefined;
}

const knownMembers = new Set([
  'role',
  'content',
  'parts',
  'reasoning',
  'tool_calls',
  'tool_results',
  'citations',
  'other',
]);

function requireKnownMembers(plain: Readonly<Record<string, unknown>>, own: ReadonlySet<string>): void {
  for (const [name, value] of Object.entries(plain)) {
    if (!knownMembers.has(name) && !own.has(name) && value !== undefined && value !== null && value !== '')
      throw unwritable('a replaced message has a member that cannot be put into the body');
  }
}
