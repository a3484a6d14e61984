export { compileExclusivePattern as compileAllowed } from '../text/safe-pattern.ts';
