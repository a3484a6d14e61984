import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';
import { counterBehind, tellingWords, wordsBefore } from './context.ts';

/** Numbers of patients and of their records, where the words before them say so: no clinic numbers as another does. */
export function* findMedicalRecords(scan: ScannedText): Generator<Finding> {
  const { text, codeStarts } = scan;
  for (const start of codeStarts) {
    code.lastIndex = start;
    const written = code.exec(text)?.[0];
    if (
      written === undefined ||
      counterBehind.test(text.slice(start + written.length, start + written.length + 5))
    )
      continue;
    if (!recordBefore.test(wordsBefore(scan, start, 60))) continue;
    yield { entity: 'MEDICAL_RECORD', start, end: start + written.length, isConfirmed: true };
  }
}

const code =
  /(?:[A-Za-z]{1,4}-?|[A-Z]{1,4} )?(?:\d{4,12}(?:[ -]\d{1,8}){0,3}|\d{1,3}(?:[ -]\d{1,8}){1,3})(?!\d|[.,:/-]\d|[A-Za-z\u00c0-\u024f\u1e00-\u1eff]| ?[%€$£¥₹年月])/uy;

/** Whose the number is, and what it is, in either order. */
const patients =
  "patient|patients?['’]s?|patiente|*patienten*|hospital|medical|clinic*|paciente*|paziente|患者|病人|मरीज|रोगी|पेशेंट|अस्पताल";
const records =
  'id|no|nr|num|number|nummer|file|record*|chart*|akte*|dossier*|numero*|n\\.?[°º]|identifiant*|identificador|historia*|expediente*|cartella|' +
  '编号|号码|番号|संख्या|आईडी|क्रमांक|नंबर';
const own =
  'mrn|m\\.r\\.n\\.?|medical record*|health record*|chart (?:no|number)|patienten(?:nummer*|nr|id|akte)|fallnummer*|fall-?(?:nr|id)|krankenakte*|aufnahmenummer*|krankenblatt*|' +
  'dossier (?:medical|patient)|ipp|iep|histori[ae]l? clinic[ao]*|n(?:[º°]|[.]º|um|umero)? ?(?:de )?historia*|expediente (?:clinico|medico)|nhc|n\\.?h\\.?c\\.?|' +
  '病历*|病歷*|住院号|住院號|病案*|门诊号|門診號|就诊号|就诊卡*|カルテ*|診察券*|診察番号|यूएचआईडी|uhid|ओपीडी|cartella clinica';
const [patient, record] = [tellingWords(patients).source, tellingWords(records).source];
const recordBefore = new RegExp(
  `(?:${tellingWords(own).source}|${patient}[^\\d]{0,12}?${record}|${record}[^\\d]{0,12}?${patient})[^\\d,;]{0,20}$`,
  'iu',
);
