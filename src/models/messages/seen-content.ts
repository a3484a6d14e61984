import type { LanguageModelV4Content, LanguageModelV4Source, LanguageModelV4Text } from '@ai-sdk/provider';
import { keepTextlessMetadata } from './textless-metadata.ts';

/**
 * A part of a changed answer with the members that hooks have seen, and the provider metadata that holds no
 * text. `isCitedSame`: the citations are those that hooks were sent.
 */
export function keepSeenMembers(part: LanguageModelV4Content, isCitedSame: boolean): LanguageModelV4Content {
  switch (part.type) {
    case 'text':
      return keepSeenText(part, isCitedSame);
    case 'reasoning':
      return {
        type: part.type,
        text: part.text,
        ...keepTextlessMetadata('reasoning', part.providerMetadata),
      };
    case 'file': {
      const { type, mediaType, data, providerMetadata } = part;
      return { type, mediaType, data, ...keepTextlessMetadata('file', providerMetadata) };
    }
    case 'source':
      return withoutMetadata(part);
    case 'tool-call': {
      const { type, toolCallId, toolName, input, providerExecuted, dynamic, providerMetadata } = part;
      const flags = { ...definedFlag({ providerExecuted }), ...definedFlag({ dynamic }) };
      return {
        type,
        toolCallId,
        toolName,
        input,
        ...flags,
        ...keepTextlessMetadata('tool-call', providerMetadata),
      };
    }
    case 'tool-result': {
      const { type, toolCallId, toolName, result, isError, preliminary, dynamic, providerMetadata } = part;
      const flags = {
        ...definedFlag({ isError }),
        ...definedFlag({ preliminary }),
        ...definedFlag({ dynamic }),
      };
      return {
        type,
        toolCallId,
        toolName,
        result,
        ...flags,
        ...keepTextlessMetadata('tool-result', providerMetadata),
      };
    }
    case 'tool-approval-request':
      return { type: part.type, approvalId: part.approvalId, toolCallId: part.toolCallId };
    default:
      return part;
  }
}

function keepSeenText({ text, citations }: LanguageModelV4Text, isCitedSame: boolean): LanguageModelV4Text {
  const cited = citations?.map(({ source, ...citation }) => ({
    ...citation,
    source: withoutMetadata(source),
  }));
  return { type: 'text', text, ...(isCitedSame && cited && { citations: cited }) };
}

function withoutMetadata({ providerMetadata: _, ...source }: LanguageModelV4Source): LanguageModelV4Source {
  return source;
}

/** A flag that is set, to spread. */
function definedFlag<Flag extends Readonly<Record<string, boolean | undefined>>>(given: Flag): Partial<Flag> {
  return Object.values(given)[0] === undefined ? {} : given;
}
