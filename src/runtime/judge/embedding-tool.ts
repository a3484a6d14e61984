import { type Fault, RuntimeError } from '../../errors.ts';
import { isObject, stringifyJson } from '../../json/json.ts';
import { toDenial } from '../../pipeline/run/tool-step.ts';
import type { EmbedByTool } from '../../provider/embedding/embed-by-tool.ts';
import { requireVectors } from '../../provider/embedding/vectors.ts';
import { createProviderError } from '../../provider/open/provider-error.ts';
import { retryableCodes } from '../../suite/score/retry.ts';
import { pendingFault } from '../../suite/subject/tool.ts';
import { callTool } from '../../tool-call/call.ts';
import type { CallableTool } from '../../tool-call/callable-tool.ts';
import { unknownName } from '../../yaml/unknown-name.ts';

/** The tools of a runtime as embedding models: called with all their hooks. */
export function openEmbeddingTools(tools: ReadonlyMap<string, CallableTool>): EmbedByTool {
  return async ({ provider, tool: name, texts, signal }) => {
    const tool = tools.get(name) ?? unknownName('tool', name, tools.keys());
    const { outcome } = await callTool(tool, stringifyJson({ texts }), { ...(signal && { signal }) });
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
