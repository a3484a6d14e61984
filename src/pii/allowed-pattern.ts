export { compileExemption as compileAllowed } from '../text/safe-pattern.ts';
