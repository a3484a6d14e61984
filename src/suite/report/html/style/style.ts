import { baseStyle } from './base.ts';
import { caseStyle } from './case.ts';
import { listStyle } from './list.ts';
import { printStyle } from './print.ts';
import { summaryStyle } from './summary.ts';

/** The style sheet of the page; what comes later wins. */
export const style = [baseStyle, summaryStyle, listStyle, caseStyle, printStyle].join('');
