import type {
  LanguageModelV4Content,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';

type Part = LanguageModelV4StreamPart;

/** Makes the ids of the tool calls of one answer unique. */
export interface UniqueToolCallIds {
  content(content: readonly LanguageModelV4Content[]): LanguageModelV4Content[];
  /** The next part of a stream. */
  part(part: Part): Part;
}

/**
 * Renames tool call ids that an API gives twice, within an answer or again in a later one: the second
 * `call_1` becomes `call_1-2`. Calls that the provider runs itself keep their ids.
 */
export function createUniqueToolCallIds(prompt: LanguageModelV4Prompt): UniqueToolCallIds {
  const taken = new Set(idsOf(prompt));
  const inputs = new Map<string, StreamedInput[]>();
  const take = (id: string): string => {
    let own = id;
    for (let count = 2; taken.has(own); count++) own = `${id}-${count}`;
    taken.add(own);
    return own;
  };
  const begin = (id: string): string => {
    const input: StreamedInput = { id: take(id), isEnded: false, isCalled: false };
    inputs.set(id, [...(inputs.get(id) ?? []), input]);
    return input.id;
  };
  const call = (id: string): string => {
    const input = inputs.get(id)?.find(({ isCalled }) => !isCalled);
    if (input === undefined) return take(id);
    input.isCalled = true;
    return input.id;
  };
  const withUniqueId = <Named extends IdentifiedCall>(part: Named): Named => {
    if (part.providerExecuted !== true) return { ...part, toolCallId: call(part.toolCallId) };
    taken.add(part.toolCallId);
    return part;
  };
  return {
    content: (content) => content.map((part) => (part.type === 'tool-call' ? withUniqueId(part) : part)),
    part: (part) => {
      switch (part.type) {
        case 'tool-call':
          return withUniqueId(part);
        case 'tool-input-start':
          return part.providerExecuted === true ? part : { ...part, id: begin(part.id) };
        case 'tool-input-delta':
          return { ...part, id: inputs.get(part.id)?.findLast(({ isEnded }) => !isEnded)?.id ?? part.id };
        case 'tool-input-end': {
          const input = inputs.get(part.id)?.find(({ isEnded }) => !isEnded);
          if (input === undefined) return part;
          input.isEnded = true;
          return { ...part, id: input.id };
        }
        default:
          return part;
      }
    },
  };
}

interface IdentifiedCall {
  readonly toolCallId: string;
  readonly providerExecuted?: boolean;
}

/** The arguments of a call as they are streamed. */
interface StreamedInput {
  readonly id: string;
  isEnded: boolean;
  isCalled: boolean;
}

function idsOf(prompt: LanguageModelV4Prompt): string[] {
  return prompt.flatMap(({ role, content }) =>
    role === 'assistant'
      ? content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
      : [],
  );
}
