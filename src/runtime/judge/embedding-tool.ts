import { type Fault, RuntimeError } from '../../base/errors.ts';
import { isObject, stringifyJson } from '../../base/json/json.ts';
import { unknownName } from '../../base/yaml/wording.ts';
import { callTool } from '../../calls/tool-call/call.ts';
import type { CallableTool } from '../../calls/tool-call/callable-tool.ts';
import type { Emit } from '../../contract/event.ts';
import { type EmbedByTool, requireVectors } from '../../models/embedding.ts';
import { createProviderError } from '../../models/provider-error.ts';
import { toDenial } from '../../pipelines/run/step-kinds.ts';
import { retryableCodes } from '../../suites/score/retry.ts';
import { pendingFault } from '../../suites/subject/tool.ts';

/** Hooks of the tools run on each call. */
export function openEmbeddingTools(tools: ReadonlyMap<string, CallableTool>, emit: Emit): EmbedByTool {
  return async ({ provider, tool: name, texts, signal }) => {
    const tool = tools.get(name) ?? unknownName('tool', name, tools.keys());
    const { outcome } = await callTool(tool, stringifyJson({ texts }), { signal, emit });
    switch (outcome.status) {
      case 'ok': {
        const { value } = outcome.result;
        const vectors = isObject(value) ? value['embeddings'] : undefined;
        return { vectors: requireVectors(vectors, { count: texts.length, provider }), tokens: undefined };
      }
      case 'failed':
        throw failure(provider, name, outcome.error);
      case 'denied':
        throw thrownFault(toDenial(name, outcome));
      case 'pending':
        throw thrownFault(pendingFault(name, outcome));
    }
  };
}

function failure(provider: string, tool: string, { code, message }: Fault): RuntimeError {
  if (code === 'ABORTED') return new RuntimeError('ABORTED', message);
  const words = `tool "${tool}": [${code}] ${message}`;
  return createProviderError(provider, { message: words, retryable: retryableCodes.has(code) });
}

function thrownFault({ code, message, hint }: Fault): RuntimeError {
  return new RuntimeError(code, message, { hint });
}
