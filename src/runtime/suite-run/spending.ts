import { dirname, join, resolve } from 'node:path';
import { RuntimeError } from '../../base/errors.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import type { Scrubber } from '../../contract/scrub.ts';
import { type CallScope, createCallScope, inCallScope } from '../../models/call-scope.ts';
import { openResponseCache, type ResponseCache } from '../../models/responses/response-cache.ts';
import { type Budget, createBudget } from '../../models/spending/budget.ts';
import { hasPrices } from '../../models/spending/metered-model.ts';
import type { Suite } from '../../suites/file/model.ts';
import type { EpochRecord } from '../../suites/record.ts';
import type { SuiteOptions } from '../../suites/suite-run.ts';
import type { SuiteRunOptions } from '../api.ts';

interface SpendingContext {
  readonly config: RuntimeConfig;
  readonly scrubber: Scrubber;
  readonly warn: (message: string) => void;
  /** Whether a recording is made or replayed: then prices and cached answers are ignored. */
  readonly usesRecording: boolean;
  readonly isReplaying: boolean;
}

/**
 * Applies budgets and cached answers to the model calls of a run. Throws USAGE if a budget needs an unknown price, and
 * FILE_UNREADABLE.
 */
export function openSpending(
  suite: Suite,
  options: Pick<SuiteRunOptions, 'maxCostUsd' | 'onSpent' | 'cache'>,
  context: SpendingContext,
): Required<Pick<SuiteOptions, 'aroundEpoch' | 'onFound'>> {
  const { maxCostUsd = suite.maxCost?.total, onSpent } = options;
  const caseUsd = suite.maxCost?.case;
  if (maxCostUsd !== undefined || caseUsd !== undefined) requirePrices(context);
  if (maxCostUsd !== undefined && !(maxCostUsd >= 0 && Number.isFinite(maxCostUsd))) {
    throw new RuntimeError(
      'USAGE',
      `the budget of a run must be an amount of US dollars from 0, not ${maxCostUsd}`,
    );
  }
  const total = maxCostUsd === undefined ? undefined : createBudget(maxCostUsd, 'the run', onSpent);
  const cache = context.usesRecording ? undefined : openCache(suite, options, context);
  return {
    onFound: ({ spending }) => total?.add(spending?.cost_usd ?? 0),
    aroundEpoch: async (epoch, work) => {
      // The budget has already refused a case, so later cases are refused too, even if their first calls would fit.
      if (total?.isExceeded()) await total.admit(Number.MIN_VALUE, undefined);
      const ofCase = caseUsd === undefined ? [] : [createBudget(caseUsd, 'a case')];
      const budgets = [...ofCase, ...(total === undefined ? [] : [total])];
      const refusing = { isRefused: false };
      const scope = createCallScope({
        budgets: budgets.map((each) => noting(each, total, refusing)),
        cache,
        epoch,
      });
      const record = await inCallScope(scope, work);
      if (refusing.isRefused) await total?.admit(Number.MIN_VALUE, undefined);
      return withSpending(record, scope);
    },
  };
}

/** Notes when the budget of the run refused a call of this case, because the case is then incomplete. */
function noting(budget: Budget, total: Budget | undefined, refusing: { isRefused: boolean }): Budget {
  if (budget !== total) return budget;
  return {
    ...budget,
    admit: async (usd, signal) => {
      try {
        return await budget.admit(usd, signal);
      } catch (thrown) {
        refusing.isRefused ||= budget.isExceeded();
        throw thrown;
      }
    },
  };
}

function withSpending(record: EpochRecord, { tally }: CallScope): EpochRecord {
  const kept = record.subject?.cached === true ? 1 : 0;
  const [calls, cached] = [tally.calls + kept, tally.cached + kept];
  const { costUsd } = tally;
  if (calls === 0) return record;
  const cost = costUsd === null ? null : Math.round(costUsd * 1e9) / 1e9;
  return { ...record, spending: { calls, cached, cost_usd: cost } };
}

/** Every provider needs prices, because subjects, judges and hooks may call any of them. */
function requirePrices({ config, isReplaying }: SpendingContext): void {
  const unknown = isReplaying ? [] : config.providers.filter((provider) => !hasPrices(provider));
  if (unknown.length === 0) return;
  const ids = unknown.map(({ id }) => `"${id}"`).join(', ');
  throw new RuntimeError('USAGE', `the prices of ${ids} are unknown, so a budget cannot be enforced`, {
    hint: 'Add pricing: {input_cost_per_1k, output_cost_per_1k} to the provider; use 0 and 0 if calls are free.',
  });
}

function openCache(
  { subject }: Suite,
  { cache = subject?.cache ?? false }: Pick<SuiteRunOptions, 'cache'>,
  { config, scrubber, warn }: SpendingContext,
): ResponseCache | undefined {
  if (cache === false) return undefined;
  const folder = typeof cache === 'string' ? resolve(cache) : responseFolderOf(config);
  return openResponseCache(folder, { warn, scrubber });
}

export function responseFolderOf({
  stateStore,
  folder,
}: Pick<RuntimeConfig, 'stateStore' | 'folder'>): string {
  const state = stateStore.type === 'sqlite' ? dirname(stateStore.file) : join(folder, '.signalbox');
  return join(state, 'responses');
}
