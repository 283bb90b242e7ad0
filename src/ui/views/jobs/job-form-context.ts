import { useStore } from 'zustand';

import { createRequiredContext } from '../../parts/required-context.ts';
import type { JobForm, JobFormView } from './job-form.ts';

export const [JobFormContext, useJobForm] = createRequiredContext<JobForm>('JobFormContext');

/** Renders again only when the selected value changes. */
export function useFormView<Selected>(select: (view: JobFormView) => Selected): Selected {
  return useStore(useJobForm().store, select);
}
