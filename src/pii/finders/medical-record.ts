import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';
import { tellingWords } from './context.ts';

/** Numbers of patients and of their records, where the text calls them so: no clinic numbers as another does. */
export function* findMedicalRecords({ text, digits }: ScannedText): Generator<Finding> {
  if (digits.starts.length === 0) return;
  for (const { 0: whole, index } of text.matchAll(record)) {
    const written =
      /[A-Za-z\u00c0-\u024f\u1e00-\u1eff\d]{0,4}-?\d[A-Za-z\u00c0-\u024f\u1e00-\u1eff\d -]*$/u.exec(
        whole,
      )?.[0] ?? '';
    const end = index + whole.length;
    yield { entity: 'MEDICAL_RECORD', start: end - written.length, end, isConfirmed: true };
  }
}

const words =
  'mrn|medical record|medical record (?:no|num|number|id)|health record|chart (?:no|number)|patient (?:id|no|number)|hospital (?:no|number)|' +
  'patienten(?:nummer|nr|id)|patienten (?:nr|id|nummer)|fallnummer|krankenakte|aufnahmenummer|krankenblatt|' +
  'n(?:°|º|umero|uméro) (?:de )?(?:dossier )?patient|dossier (?:médical|patient)|ipp|iep|numéro de dossier patient|' +
  'historia cl[ií]nica|(?:n[º°]|n[uú]mero) de (?:historia|paciente)|nhc|expediente cl[ií]nico|' +
  '病历号|病歷號|住院号|病案号|患者编号|门诊号|就诊号|病人号|' +
  'カルテ番号|カルテ|患者番号|診察券番号|患者 ?id|診察番号|' +
  'मरीज (?:संख्या|आईडी|क्रमांक)|रोगी (?:संख्या|आईडी|क्रमांक)|यूएचआईडी|uhid|numero (?:di )?paziente|cartella clinica';
const record = new RegExp(
  `${tellingWords(words).source}(?:[ _]klinik)?["']?[ \\t]{0,3}(?:n(?:[r°ºo]|um|umber)\\.?|number|#|is|ist|est|es|है|は|是|为)?[ \\t]{0,2}["':.=#]{0,3}[ \\t]{0,3}["']?(?=[A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff\\d -]{0,8}\\d)(?:[A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff]{1,4}-?)?\\d[\\d]{0,11}(?:[ -]\\d{1,8}){0,3}(?![A-Za-z\\u00c0-\\u024f\\u1e00-\\u1eff\\p{N}])`,
  'giu',
);
