import { type ConfigurationOptions, Observable, type RequestContext } from '@kubernetes/client-node'
import type { Dispatcher } from './connection.ts'
import { kubernetesErrorOf } from './kubernetes-error.ts'

/** Stands before every write and throws when this process must not write. Returns how long a write may take (ms). */
export type Fence = () => number

export interface RequestSettings {
  readonly signal: AbortSignal
  readonly fence?: Fence
  readonly contentType?: string
}

/** What a call of the package's `CustomObjectsApi` lacks: a time limit, the fence, the kind of patch, and the types of the core. */
export function requestOptions({ signal, fence, contentType }: RequestSettings): ConfigurationOptions {
  const prepare = (context: RequestContext) => {
    // The group of the core has no name, and a path of its own.
    context.setUrl(context.getUrl().replace('/apis//', '/api/'))
    context.setSignal(signal)
    if (contentType) context.setHeaderParam('Content-Type', contentType)
    const dispatcher = context.getDispatcher()
    if (fence && dispatcher) context.setDispatcher(dispatcher.compose(fenced(fence)))
    return of(context)
  }
  return { middleware: [{ pre: prepare, post: of }], middlewareMergeStrategy: 'append' }
}

function of<T>(value: T): Observable<T> {
  return new Observable(Promise.resolve(value))
}

/** Asks the fence at the last moment before anything is sent: to connect takes time, in which a process may be frozen. */
function fenced(fence: Fence): (dispatch: Dispatcher['dispatch']) => Dispatcher['dispatch'] {
  return (dispatch) => (options, handler) => {
    const onRequestStart: typeof handler.onRequestStart = (...started) => {
      fence()
      handler.onRequestStart?.(...started)
    }
    return dispatch(options, Object.assign(Object.create(handler), { onRequestStart }))
  }
}

/** The answer to a call of the package. Throws a `KubernetesError`. */
export async function answered<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw kubernetesErrorOf(error)
  }
}
