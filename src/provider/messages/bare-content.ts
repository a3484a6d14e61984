import type { LanguageModelV4Content, LanguageModelV4Source, LanguageModelV4Text } from '@ai-sdk/provider';
import { keepMetadata } from './kept-metadata.ts';

/**
 * A part of a changed answer with the members that hooks have seen, and of the provider's notes on it those alone
 * that hold no text. `isCitedSame`: what a text cites is what hooks were sent.
 */
export function bareContent(part: LanguageModelV4Content, isCitedSame: boolean): LanguageModelV4Content {
  switch (part.type) {
    case 'text':
      return bareText(part, isCitedSame);
    case 'reasoning':
      return { type: part.type, text: part.text, ...keepMetadata('reasoning', part.providerMetadata) };
    case 'file': {
      const { type, mediaType, data, providerMetadata } = part;
      return { type, mediaType, data, ...keepMetadata('file', providerMetadata) };
    }
    case 'source':
      return bareSource(part);
    case 'tool-call': {
      const { type, toolCallId, toolName, input, providerExecuted, dynamic, providerMetadata } = part;
      const flags = { ...flag({ providerExecuted }), ...flag({ dynamic }) };
      return { type, toolCallId, toolName, input, ...flags, ...keepMetadata('tool-call', providerMetadata) };
    }
    case 'tool-result': {
      const { type, toolCallId, toolName, result, isError, preliminary, dynamic, providerMetadata } = part;
      const flags = { ...flag({ isError }), ...flag({ preliminary }), ...flag({ dynamic }) };
      return {
        type,
        toolCallId,
        toolName,
        result,
        ...flags,
        ...keepMetadata('tool-result', providerMetadata),
      };
    }
    case 'tool-approval-request':
      return { type: part.type, approvalId: part.approvalId, toolCallId: part.toolCallId };
    default:
      return part;
  }
}

function bareText({ text, citations }: LanguageModelV4Text, isCitedSame: boolean): LanguageModelV4Text {
  const cited = citations?.map(({ source, ...citation }) => ({ ...citation, source: bareSource(source) }));
  return { type: 'text', text, ...(isCitedSame && cited && { citations: cited }) };
}

function bareSource({ providerMetadata: _, ...source }: LanguageModelV4Source): LanguageModelV4Source {
  return source;
}

/** A flag that is set, to spread. */
function flag<Flag extends Readonly<Record<string, boolean | undefined>>>(given: Flag): Partial<Flag> {
  return Object.values(given)[0] === undefined ? {} : given;
}
