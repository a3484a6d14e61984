import type { Answer } from '../../contract/hook.ts';
import { Json } from '../../json/json.ts';
import { membersOf } from '../../json/scan.ts';
import type { Payload, Question } from '../foreign-dialect.ts';

/** The payload for the next hook of the chain, with the replacements of the last one. */
export function nextPayload({ point, payload }: Question, answer: Answer): Payload {
  if (answer.verdict !== 'modify') return payload;
  const { name, args, content, ...others } = membersOf(answer.replace);
  if (point === 'after_tool' && content !== undefined) {
    const resultMembers = membersOf(membersOf(answer.metadata)['picoclaw'] ?? new Json('{}'))['result'];
    const sent = membersOf(Json.from(payload['result'] ?? {}));
    return {
      ...payload,
      result: { ...sent, ...(resultMembers && membersOf(resultMembers)), for_llm: content },
    };
  }
  return {
    ...payload,
    ...(name !== undefined && { tool: name.value }),
    ...(args !== undefined && { arguments: args }),
    ...others,
  };
}
