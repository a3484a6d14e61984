import type { Link } from '../../calls/hooks/gate.ts';
import type { DeclaredTools } from '../../calls/tool-call/agent-tool.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import { identityOf } from '../../config/overlay/identity.ts';
import type { Emit } from '../../contract/event.ts';
import { openMemo } from '../../gateway/memo/open-memo.ts';
import { openSeenMessages } from '../../gateway/memo/seen-messages.ts';
import type { Caller, SeenMessages, ToolJudge } from '../../gateway/ports.ts';
import { openToolJudge } from '../../gateway/tools/tool-judge.ts';
import { openChangeWaiter } from '../../pipelines/state/change-waiter.ts';
import type { HostEnv } from '../../process/env.ts';
import type { LazyStore } from '../lazy-store.ts';

export interface JudgesContext {
  readonly config: RuntimeConfig;
  readonly emit: Emit;
  readonly env: HostEnv;
  readonly store: LazyStore;
  readonly declared: DeclaredTools;
  readonly linksOf: (caller: Caller) => readonly Link[];
}

/** What judges beside the provider hooks, as far as the config asks for it. */
export interface Judges {
  readonly tools: ToolJudge | undefined;
  readonly seen: SeenMessages | undefined;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Opens the tool hooks of agents that run elsewhere, and the memory of `judge: new`. Throws STORE_FAILED. */
export async function openJudges(context: JudgesContext): Promise<Judges> {
  const { config, emit, env, store, declared, linksOf } = context;
  const { gateway, stateStore } = config;
  const judgesNew = [...gateway.judge.values()].includes('new');
  if (!gateway.tools.hooks && !judgesNew) return { tools: undefined, seen: undefined, close: async () => {} };
  const memo = await openMemo(stateStore, env);
  const { pending, holdMs } = gateway.tools;
  const judge = () =>
    openToolJudge({
      ...{ memo, declared, linksOf, emit, config: identityOf(config) },
      isDurable: stateStore.type !== 'memory',
      holdMs: pending === 'hold' ? holdMs : 0,
      openStore: store.open,
      openWaiter: openChangeWaiter,
    });
  return {
    tools: gateway.tools.hooks ? judge() : undefined,
    seen: judgesNew ? openSeenMessages({ memo, judge: gateway.judge }) : undefined,
    close: memo.close,
  };
}
