//! Contracts: the traits that the policies of a seam implement.
//!
//! A seam has up to two. Its *contract* (`VictimPolicy`, `SchedulerPolicy` ...) is implemented by policies that
//! have been built, and used while the device runs. Its *facts* (`WriteBufferFacts`, `MappingFacts` ...) follow
//! from the options alone, before anything is built; checks of a configuration and sizes of tables use them. Both
//! are declared by `contract!`, which declares the trait and implements it for the seam's enum with a match that
//! the compiler can inline. So no code outside a policy's file names the policy, except its line in `seam!`.

/// Declares a contract, or facts, and implements it for the enum of the seam.
///
/// ```text
/// contract! {
///     /// The decisions of a policy.
///     pub trait SchedulerPolicy for Scheduler, by scheduler_policy, or ExternalScheduler {
///         /// The rank of an arriving command.
///         fn rank(&mut self, arrival: &Arrival, view: &View<'_>) -> u64;
///     }
/// }
///
/// contract! {
///     /// What the options of a mapping determine.
///     pub trait MappingFacts of MappingChoice, by mapping_policy {
///         /// Whether two logical pages may share a physical one.
///         fn packs(_options: &Self::Options) -> bool { false }
///     }
/// }
/// ```
///
/// Facts become methods of the enum over the options, without their first argument. The name after `or` is that of
/// the trait of policies from outside the crate, which every implementation of the contract has automatically,
/// with the feature `external-policies`.
macro_rules! contract {
    (
        $(#[$meta:meta])*
        pub trait $Contract:ident for $Seam:ident, by $dispatch:ident, or $External:ident { $($body:tt)* }
    ) => {
        $(#[$meta])*
        pub trait $Contract {
            $($body)*
        }

        #[doc = concat!("A boxed policy from outside the crate that implements [`", stringify!($Contract), "`].")]
        #[cfg(feature = "external-policies")]
        pub trait $External: $Contract + $crate::policy::OutsidePolicy {
            /// Returns a copy with all of its state.
            #[must_use]
            fn boxed_clone(&self) -> Box<dyn $External>;
        }

        #[cfg(feature = "external-policies")]
        impl<P: $Contract + $crate::policy::OutsidePolicy + Clone + 'static> $External for P {
            fn boxed_clone(&self) -> Box<dyn $External> {
                Box::new(self.clone())
            }
        }

        #[cfg(feature = "external-policies")]
        impl Clone for Box<dyn $External> {
            fn clone(&self) -> Box<dyn $External> {
                (**self).boxed_clone()
            }
        }

        impl $Contract for $Seam {
            $crate::policy::contract!(@answers $Contract $dispatch $($body)*);
        }
    };
    (
        $(#[$meta:meta])*
        pub trait $Facts:ident of $Choice:ident, by $dispatch:ident { $($body:tt)* }
    ) => {
        $(#[$meta])*
        pub trait $Facts: $crate::policy::Policy {
            $($body)*
        }

        impl $Choice {
            $crate::policy::contract!(@facts $Facts $dispatch $($body)*);
        }
    };

    // One function at a time: with or without a default, with `&self` or `&mut self`.
    (@answers $Contract:ident $dispatch:ident) => {};
    (@answers $Contract:ident $dispatch:ident
        $(#[$meta:meta])*
        fn $name:ident(&self $(, $arg:ident: $Arg:ty)* $(,)?) $(-> $Answer:ty)?;
        $($rest:tt)*
    ) => {
        #[inline(always)]
        fn $name(&self $(, $arg: $Arg)*) $(-> $Answer)? {
            $dispatch!(self, policy => policy.$name($($arg),*))
        }
        $crate::policy::contract!(@answers $Contract $dispatch $($rest)*);
    };
    (@answers $Contract:ident $dispatch:ident
        $(#[$meta:meta])*
        fn $name:ident(&mut self $(, $arg:ident: $Arg:ty)* $(,)?) $(-> $Answer:ty)?;
        $($rest:tt)*
    ) => {
        #[inline(always)]
        fn $name(&mut self $(, $arg: $Arg)*) $(-> $Answer)? {
            $dispatch!(self, policy => policy.$name($($arg),*))
        }
        $crate::policy::contract!(@answers $Contract $dispatch $($rest)*);
    };
    (@answers $Contract:ident $dispatch:ident
        $(#[$meta:meta])*
        fn $name:ident(&self $(, $arg:ident: $Arg:ty)* $(,)?) $(-> $Answer:ty)? { $($default:tt)* }
        $($rest:tt)*
    ) => {
        $crate::policy::contract!(@answers $Contract $dispatch
            fn $name(&self $(, $arg: $Arg)*) $(-> $Answer)?;
            $($rest)*
        );
    };
    (@answers $Contract:ident $dispatch:ident
        $(#[$meta:meta])*
        fn $name:ident(&mut self $(, $arg:ident: $Arg:ty)* $(,)?) $(-> $Answer:ty)? { $($default:tt)* }
        $($rest:tt)*
    ) => {
        $crate::policy::contract!(@answers $Contract $dispatch
            fn $name(&mut self $(, $arg: $Arg)*) $(-> $Answer)?;
            $($rest)*
        );
    };

    (@facts $Facts:ident $dispatch:ident) => {};
    (@facts $Facts:ident $dispatch:ident
        $(#[$meta:meta])*
        fn $name:ident($options:ident: &Self::Options $(, $arg:ident: $Arg:ty)* $(,)?) -> $Answer:ty;
        $($rest:tt)*
    ) => {
        $(#[$meta])*
        #[must_use]
        pub fn $name(&self $(, $arg: $Arg)*) -> $Answer {
            $dispatch!(of self, Chosen(options) => <Chosen as $Facts>::$name(options $(, $arg)*))
        }
        $crate::policy::contract!(@facts $Facts $dispatch $($rest)*);
    };
    (@facts $Facts:ident $dispatch:ident
        $(#[$meta:meta])*
        fn $name:ident($options:ident: &Self::Options $(, $arg:ident: $Arg:ty)* $(,)?) -> $Answer:ty {
            $($default:tt)*
        }
        $($rest:tt)*
    ) => {
        $crate::policy::contract!(@facts $Facts $dispatch
            $(#[$meta])*
            fn $name($options: &Self::Options $(, $arg: $Arg)*) -> $Answer;
            $($rest)*
        );
    };
}

pub(crate) use contract;
