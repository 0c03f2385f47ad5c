import { type ConfigurationOptions, Observable, type RequestContext } from '@kubernetes/client-node'
import type { Dispatcher } from './connection.ts'
import { kubernetesErrorOf } from './kubernetes-error.ts'

/** Runs before every write and throws if this process must not write. Returns the max duration of the write in ms. */
export type Fence = () => number

export interface RequestSettings {
  readonly signal: AbortSignal
  readonly fence?: Fence
  readonly contentType?: string
}

/** Adds to a call of the package's `CustomObjectsApi`: a timeout, the fence, the patch type, and support for core types. */
export function requestOptions({ signal, fence, contentType }: RequestSettings): ConfigurationOptions {
  const prepare = (context: RequestContext) => {
    // The core group has no name and its own path.
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

/** Checks the fence immediately before sending: connecting takes time, in which a process can be suspended. */
function fenced(fence: Fence): (dispatch: Dispatcher['dispatch']) => Dispatcher['dispatch'] {
  return (dispatch) => (options, handler) => {
    const onRequestStart: typeof handler.onRequestStart = (...started) => {
      fence()
      handler.onRequestStart?.(...started)
    }
    return dispatch(options, Object.assign(Object.create(handler), { onRequestStart }))
  }
}

/** Awaits a call of the package. Throws a `KubernetesError`. */
export async function answered<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    throw kubernetesErrorOf(error)
  }
}
