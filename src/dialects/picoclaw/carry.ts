import type { Answer } from '../../contract/hook.ts';
import { Json } from '../../json/json.ts';
import { partsOf } from '../../json/scan.ts';
import type { Payload, Question } from '../foreign.ts';

/** The payload as the next hook sees it: with what the last one made of it. `meta` and its like stay true. */
export function carry({ point, payload }: Question, answer: Answer): Payload {
  if (answer.verdict !== 'modify') return payload;
  const { name, args, content, ...others } = partsOf(answer.replace);
  if (point === 'after_tool' && content !== undefined) {
    const beside = partsOf(partsOf(answer.metadata)['picoclaw'] ?? new Json('{}'))['result'];
    const sent = partsOf(Json.from(payload['result'] ?? {}));
    return { ...payload, result: { ...sent, ...(beside && partsOf(beside)), for_llm: content } };
  }
  return {
    ...payload,
    ...(name !== undefined && { tool: name.value }),
    ...(args !== undefined && { arguments: args }),
    ...others,
  };
}
