import { RuntimeError } from '../../base/errors.ts';
import { isObject, Json } from '../../base/json/json.ts';
import { type EventInput, readEvent } from '../../calls/hooks/event-input.ts';
import type { GateOptions, Link } from '../../calls/hooks/gate.ts';
import { type AgentTools, resolveToolNames } from '../../calls/tool-call/agent-tool.ts';
import { ContentResult, findContentFaults, passContent } from '../../calls/tool-call/result-texts.ts';
import type { Decision } from '../../contract/hook.ts';

interface ResultJudging {
  readonly links: readonly Link[];
  readonly tools: AgentTools;
  readonly options: GateOptions;
}

/**
 * Judges a result of an agent's own tool text by text. The decision replaces `content` and the other members of the
 * result that hooks changed. Throws EVENT_INVALID if the response is not a tool result of MCP.
 */
export async function judgeResult(
  event: EventInput,
  { links, tools, options }: ResultJudging,
): Promise<Decision> {
  const response = isObject(event.response) ? event.response : {};
  const { content: blocks, structuredContent, isError, _meta } = response;
  const loose = { ...event, response: { ...response, content: '', blocks } };
  const resolved = resolveToolNames(readEvent(loose), tools);
  if (resolved.phase !== 'after_execution') throw new TypeError('the event is not a result');
  const given = Json.from({ content: blocks, structuredContent, isError, _meta });
  const faults = findContentFaults(given);
  if (faults.length > 0) {
    const message = `the event of tool after_execution is not well formed: response.${faults.join('; response.')}`;
    throw new RuntimeError('EVENT_INVALID', message);
  }
  const content = new ContentResult(given);
  const { request } = resolved;
  const { checkResult: fitsStructured } = tools(request.name, request.aliases);
  const latencyMs = resolved.response.latency_ms;
  const heard = new Set<string>();
  const onHear = (hook: string) => {
    if (!heard.has(hook)) options.onHear?.(hook);
    heard.add(hook);
  };
  const decision = await passContent(content, {
    ...{ links, request, latencyMs, fitsStructured },
    options: { ...options, onHear },
  });
  return decision.verdict === 'modify' ? { ...decision, replace: content.json } : decision;
}
