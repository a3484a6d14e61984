import type { Link } from '../../calls/hooks/gate.ts';
import { isHeard } from '../../calls/hooks/steps.ts';
import { agentTools, type DeclaredTools } from '../../calls/tool-call/agent-tool.ts';
import type { HookContext } from '../../contract/turn.ts';
import { createHookContext } from '../../contract/turn.ts';
import type { Memo } from '../memo/memo.ts';
import type { Caller, JudgeContext, ToolJudge } from '../ports.ts';
import { openCallWaiting, type WaitingOptions } from './call-waiting.ts';
import { createChainIdentity } from './chain-identity.ts';
import { judgeCalls } from './judge-calls.ts';
import { judgeResults } from './judge-results.ts';
import { nameOfRequest, type RecalledAnswer, recallAnswer } from './kept-answer.ts';
import { newRunId } from './pending-run.ts';

export interface ToolJudgeOptions extends WaitingOptions {
  readonly memo: Memo;
  /** What the config says of tools. */
  readonly declared: DeclaredTools;
  /** The hooks that a caller's calls pass; the same list for the same hooks. */
  readonly linksOf: (caller: Caller) => readonly Link[];
  /** Whether the store outlives the process, so that somebody can decide in another one. */
  readonly isDurable: boolean;
}

/** Judges the calls and results of tools that clients run, with the tool hooks and approval rules of a config. */
export function openToolJudge(options: ToolJudgeOptions): ToolJudge {
  const { memo, linksOf, declared, isDurable } = options;
  const identityOf = createChainIdentity(memo);
  const recalled = new WeakMap<JudgeContext['request'], RecalledAnswer>();
  return {
    judgeResults: async (context) => {
      const links = linksOf(context.caller);
      if (context.request.toolResults.length === 0) return context.request.payload.messages;
      return await judgeResults(context, {
        ...{ memo, links, tools: agentTools(declared, links), hookContext: hookContextOf(context) },
        identity: identityOf(links),
      });
    },
    recall: async (context) => {
      if (!(await memo.answers.mayHaveAny())) return undefined;
      const answer = await recallAnswer(memo, nameOfRequest(memo, context));
      if (answer !== undefined) recalled.set(context.request, answer);
      return answer?.body;
    },
    judgeCalls: async (answer, messages, context) => {
      const links = linksOf(context.caller);
      const kept = recalled.get(context.request);
      if (kept === undefined && !isJudged(links, declared)) return messages;
      const judged = await judgeCalls(answer, messages, context, {
        ...{ links, tools: agentTools(declared, links), hookContext: hookContextOf(context) },
        ...{ signal: context.signal, isUnattended: !isDurable },
        openWaiting: async () => {
          const runId = kept?.runId ?? newRunId();
          const waiting = {
            runId,
            isRecalled: kept !== undefined,
            keep: () => keepAnswer(answer.body, runId, context),
          };
          return await openCallWaiting(waiting, context, options);
        },
      });
      if (kept !== undefined) await endAnswer(kept);
      return judged;
    },
  };

  async function keepAnswer(body: string, runId: string, context: JudgeContext): Promise<string> {
    const name = nameOfRequest(memo, context);
    const kept = await memo.answers.keep(name, { runId, sealed: memo.key.seal(body, name) });
    return kept.runId;
  }

  async function endAnswer({ name, runId }: RecalledAnswer): Promise<void> {
    await memo.answers.end(name);
    const store = await options.openStore();
    await store.setRunStatus(runId, { status: 'completed', at: Date.now() });
  }
}

function isJudged(links: readonly Link[], { tools, hasApprovals }: DeclaredTools): boolean {
  const isAsked = isHeard(links, 'before_execution') || isHeard(links, 'approval');
  return isAsked || hasApprovals || tools.values().some(({ approval }) => approval !== undefined);
}

/** The conversation as far as it is known: a gateway knows no sessions. */
function hookContextOf({ request, model }: JudgeContext): HookContext {
  const { messages, round } = request.payload;
  const now = new Date().toISOString();
  return { ...createHookContext('gateway'), now, messages, round, host: { model } };
}
