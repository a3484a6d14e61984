import type { DecisionDocument } from '../../../contract/document.ts';
import { changedText, reasonOf } from '../../../inbound/reason.ts';
import { isObject } from '../../../json/json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The decision of native hooks, in the fields of a point of chibi; none is no opinion. */
export function toReply(point: string, decision: DecisionDocument): Fields {
  const { verdict } = decision;
  if (verdict === 'allow') return {};
  const changed = verdict === 'modify' ? changes[point]?.(decision) : undefined;
  if (changed !== undefined) return changed;
  const unable = verdict === 'modify' ? '. It cannot be changed here.' : '';
  return denial(point, `${reasonOf(decision)}${unable}`);
}

const changes: Readonly<Record<string, (decision: DecisionDocument) => Fields | undefined>> = {
  pre_message: (decision) => {
    const prompt = changedText(decision);
    return prompt === undefined ? undefined : { prompt };
  },
  pre_tool: ({ replace }) => (isObject(replace?.['args']) ? { arguments: replace['args'] } : undefined),
  pre_tool_output: ({ replace }) =>
    typeof replace?.['content'] === 'string' ? { output: replace['content'] } : undefined,
};

/** Says no. chibi lets no plugin end a turn before the model is asked: the model reads why there is no prompt. */
export function denial(point: string, reason: string): Fields {
  switch (point) {
    case 'pre_message':
      return { prompt: `[withheld: ${reason}]` };
    case 'pre_tool':
    case 'pre_tool_output':
      return { block: true, message: reason };
    case 'pre_file_read':
    case 'pre_file_write':
    case 'pre_shell_exec':
    case 'pre_fetch_url':
      return { denied: true, reason };
    default:
      return {};
  }
}
