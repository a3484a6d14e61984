export { findCheck } from './registry.ts';
export { runCheck } from './run.ts';
export { suggestEval } from './suggest-eval.ts';
