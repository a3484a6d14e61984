import { agentTools } from '../../calls/tool-call/agent-tool.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import { identityOf } from '../../config/overlay/identity.ts';
import type { Emit } from '../../contract/event.ts';
import type { AgentEvent, JudgeOptions, Runtime } from '../api.ts';
import { fireEvent } from '../fire-event.ts';
import type { LazyStore } from '../lazy-store.ts';
import type { WiredRuntime } from '../stages/wire.ts';

interface AgentsContext {
  readonly config: RuntimeConfig;
  readonly wired: WiredRuntime;
  readonly store: LazyStore;
  readonly emit: Emit;
}

/** The methods of a runtime for agents that run elsewhere. */
export function openAgents({ config, wired, store, emit }: AgentsContext): Runtime['agents'] {
  const { pending, holdMs } = config.agents ?? { pending: 'refuse', holdMs: 0 };
  const waitMs = pending === 'hold' ? holdMs : 0;
  const hasApprovals = config.approvals !== undefined || config.tools.some(({ approval }) => approval);
  return {
    hasApprovals,
    holdMs: hasApprovals ? waitMs : 0,
    judge: async ({ caller, ...event }: AgentEvent, options: JudgeOptions = {}) => {
      const {
        signal = new AbortController().signal,
        withinMs = Number.POSITIVE_INFINITY,
        cwd = '',
      } = options;
      const fire = async (fired: AgentEvent) => await fireEvent(wired, fired, { signal });
      if (caller === undefined || !hasApprovals) return await fire(event);
      const since = performance.now();
      const { judgeAgentCall } = await import('./agent-call.ts');
      const placed = { ...caller, cwd: caller.cwd === '' ? cwd : caller.cwd };
      return await judgeAgentCall(event, placed, {
        ...{ fire, signal, emit, config: identityOf(config), openStore: store.open },
        tools: agentTools(wired.declared, wired.links),
        isDurable: config.stateStore.type !== 'memory',
        holdMs: Math.min(waitMs, withinMs - (performance.now() - since) - ANSWER_MS),
      });
    },
  };
}

/** What is left for the answer when the wait is over. */
const ANSWER_MS = 1_000;
