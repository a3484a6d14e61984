import * as agentao from './requirements/agentao.ts';
import * as chibi from './requirements/chibi.ts';
import * as claude from './requirements/claude.ts';
import * as config from './requirements/config.ts';
import * as evals from './requirements/eval.ts';
import * as hooks from './requirements/hook.ts';
import * as picoclaw from './requirements/picoclaw.ts';
import * as pipelines from './requirements/pipeline.ts';
import * as processes from './requirements/process.ts';
import * as replies from './requirements/reply.ts';
import type { Requirement } from './requirements/requirement.ts';
import * as servers from './requirements/server.ts';
import * as surfaces from './requirements/surface.ts';
import * as tools from './requirements/tool.ts';

/**
 * Every behaviour that design.md and the documents of the five dialects ask for, one row each; a sentence that two of
 * them contain stands once. Tests cite the rows (see cite.ts), and a row that no test cites
 * fails test/requirements.test.ts.
 */
export const requirements: readonly Requirement[] = [
  processes,
  replies,
  tools,
  servers,
  hooks,
  evals,
  config,
  pipelines,
  surfaces,
  picoclaw,
  chibi,
  claude,
  agentao,
].flatMap((file) => Object.values(file).flat());
