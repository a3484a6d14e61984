import * as config from './requirements/config.ts';
import * as evals from './requirements/eval.ts';
import * as hooks from './requirements/hook.ts';
import * as pipelines from './requirements/pipeline.ts';
import * as processes from './requirements/process.ts';
import * as replies from './requirements/reply.ts';
import type { Requirement } from './requirements/requirement.ts';
import * as servers from './requirements/server.ts';
import * as surfaces from './requirements/surface.ts';
import * as tools from './requirements/tool.ts';

/**
 * Every behaviour that promptkit.md and design.md ask for, one row each; a sentence that both documents
 * contain stands under promptkit.md only. Tests cite the rows (see cite.ts), and a row that no test cites
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
].flatMap((file) => Object.values(file).flat());
