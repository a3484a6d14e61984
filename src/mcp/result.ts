import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Fault } from '../base/errors.ts';
import { Json, parseLossless, parseSpelt, stringifyJson } from '../base/json/json.ts';
import { membersOf } from '../base/json/scan.ts';
import type { ToolDocument, ToolInfo } from '../contract/document.ts';

type Blocks = CallToolResult['content'];

type CalledTool = Pick<ToolInfo, 'name' | 'mcp' | 'output_schema'>;

interface ResultOptions {
  /** What a command of a person needs to find the config. */
  readonly options?: string | undefined;
  /** The page on which a person can decide a call. */
  readonly linkOf?: (pending: string) => string | undefined;
}

/**
 * A text and, for a tool with an output schema, the same as structured content, because agents then show the model no
 * text. What is not a result is an `isError` result, whose text tells the agent what it can do.
 */
export function toResult(
  document: ToolDocument,
  tool: CalledTool,
  { options = '', linkOf }: ResultOptions = {},
): CallToolResult {
  switch (document.status) {
    case 'ok': {
      const given =
        tool.mcp.result === 'content' ? contentOf(document.result) : resultOf(document.result, tool);
      return { ...given, content: [...given.content, ...textBlocks(document.context ?? [])] };
    }
    case 'failed': {
      if (document.result !== undefined) {
        const given = contentOf(document.result);
        return { ...given, content: [...given.content, ...textBlocks(document.context ?? [])] };
      }
      const { code, message, hint } = forClient(document.error);
      return errorResult(
        [`Tool "${tool.name}" failed: [${code}] ${message}`, hint].filter((text) => text !== '').join('\n'),
        ...(document.context ?? []),
      );
    }
    case 'denied':
      return errorResult(`Tool "${tool.name}" was blocked by hook "${document.hook}": ${document.reason}`);
    case 'pending': {
      const { id, reason, message } = document.pending;
      const why = [message, reason].find((text) => text !== '');
      const link = linkOf?.(id);
      const page = link === undefined ? '' : `at ${link}, or `;
      return errorResult(
        [
          `Tool "${tool.name}" has not run: the call waits for the decision of a person${why === undefined ? '' : ` (${why})`}.`,
          `Its id is ${id}. Ask a person to decide ${page}with \`signalbox pending approve ${id}${options}\` or \`signalbox pending reject ${id}${options} --reason "…"\`; do not decide yourself.`,
          'After the decision, make the same call again with the same arguments to get its result. Until then, the same call gets this answer.',
        ].join('\n'),
      );
    }
  }
}

/** What a store says about itself, such as its address, is for the log. Clients may be on other machines. */
export function forClient(fault: Fault): Fault {
  if (fault.code !== 'STORE_FAILED') return fault;
  const message = 'the state store failed, so it is not certain whether the tool has run';
  return {
    ...fault,
    message,
    hint: 'The log of Signalbox has the reason. Ask a person before you call again.',
  };
}

export function errorResult(...texts: readonly string[]): CallToolResult {
  return { content: textBlocks(texts), isError: true };
}

function textBlocks(texts: readonly string[]): Blocks {
  return texts.map((text) => ({ type: 'text', text }));
}

function resultOf(result: unknown, { output_schema }: CalledTool): CallToolResult {
  const text = typeof result === 'string' ? result : stringifyJson(result ?? null);
  const content = textBlocks([text]);
  return output_schema !== null
    ? { content, structuredContent: spelt(result) as Record<string, unknown> }
    : { content };
}

function spelt(value: unknown): unknown {
  return parseSpelt(new Json(stringifyJson(value ?? null)));
}

/** The runtime has checked the form. */
function contentOf(result: unknown): CallToolResult {
  const { content, structuredContent, isError } = membersOf(Json.from(result));
  return {
    content: parseLossless(content?.text ?? '[]') as Blocks,
    ...(structuredContent !== undefined && {
      structuredContent: parseSpelt(structuredContent) as Record<string, unknown>,
    }),
    ...(isError?.value === true && { isError: true }),
  };
}

/** Clients close a connection, or refuse an answer, if a message is too long. */
export function bounded(result: CallToolResult, maxBytes: number): CallToolResult {
  const bytes = Buffer.byteLength(JSON.stringify(result));
  if (bytes + ENVELOPE_BYTES <= maxBytes) return result;
  return errorResult(
    `The result was not sent: it has ${bytes} bytes as a message, and the limit (max_message_bytes) is ${maxBytes}. Ask for less, such as a part or a summary.`,
  );
}

const ENVELOPE_BYTES = 1024;
