import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolApprovalResponsePart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { Json, stringifyJson } from '../../base/json/json.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { describeFile } from './media.ts';

export type BodyPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/** A part of a tool message. An assistant message has tool results too if the provider ran the tool. */
export type ToolPart = LanguageModelV4ToolResultPart | LanguageModelV4ToolApprovalResponsePart;

interface DescribedMessage {
  readonly message: ChatMessage;
  readonly part: ToolPart | undefined;
}

/** A tool message becomes one message for each part. Results of provider-run tools follow the assistant's message. */
export function describeMessage(message: LanguageModelV4Message): DescribedMessage[] {
  switch (message.role) {
    case 'system':
      return [{ message: { role: 'system', content: message.content }, part: undefined }];
    case 'user':
      return [{ message: { role: 'user', ...describeBody(message.content) }, part: undefined }];
    case 'assistant': {
      const results = message.content.filter((part) => part.type === 'tool-result');
      return [{ message: describeAssistant(message), part: undefined }, ...results.map(describeToolPart)];
    }
    case 'tool':
      return message.content.map(describeToolPart);
  }
}

export function describeBody(body: readonly BodyPart[]): {
  readonly content: string;
  readonly parts?: unknown;
} {
  const parts = body.map(describeBodyPart);
  const content = parts.map(({ text = '' }) => text).join('');
  return body.some(({ type }) => type === 'file') ? { content, parts } : { content };
}

export function describeBodyPart(part: BodyPart): { readonly type: string; readonly text?: string } {
  return part.type === 'text' ? { type: 'text', text: part.text } : describeFile(part);
}

export function describeCall({ toolCallId, toolName, input }: LanguageModelV4ToolCallPart) {
  return { id: toolCallId, name: toolName, args: input === undefined ? {} : Json.from(input) };
}

function describeAssistant({ content }: Extract<LanguageModelV4Message, { role: 'assistant' }>): ChatMessage {
  const body = content.filter((part) => part.type === 'text' || part.type === 'file');
  const calls = content.filter((part) => part.type === 'tool-call').map(describeCall);
  const reasoning = content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('');
  return {
    role: 'assistant',
    ...describeBody(body),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(reasoning !== '' && { reasoning }),
  };
}

function describeToolPart(part: ToolPart): DescribedMessage {
  if (part.type === 'tool-approval-response') {
    const { approvalId: id, approved, reason = '' } = part;
    return { message: { role: 'tool', content: reason, tool_approval: { id, approved } }, part };
  }
  const { toolCallId: id, toolName: name, output } = part;
  const { content, ...rest } = describeOutput(output);
  return { message: { role: 'tool', content, tool_result: { id, name, ...rest, latency_ms: 0 } }, part };
}

interface OutputDescription {
  readonly content: string;
  readonly error?: string;
  readonly error_type?: 'approval';
  readonly parts?: unknown;
}

function describeOutput(output: LanguageModelV4ToolResultOutput): OutputDescription {
  switch (output.type) {
    case 'text':
      return { content: output.value };
    case 'json':
      return { content: stringifyJson(output.value) };
    case 'error-text':
      return { content: output.value, error: output.value };
    case 'error-json': {
      const content = stringifyJson(output.value);
      return { content, error: content };
    }
    case 'execution-denied': {
      const content = output.reason ?? '';
      return { content, error: content, error_type: 'approval' };
    }
    case 'content':
      return describeBody(output.value.filter((part) => part.type !== 'custom'));
  }
}
